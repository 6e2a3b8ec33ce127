// The usage of the account by day.
import type { UsageTotal } from "../../client/index.ts";
import { amount, bytes, count, plural } from "../core/format.ts";
import { query, setQuery } from "../core/location.ts";
import { copra } from "../core/service.ts";
import { account } from "../core/session.ts";
import { TIERS } from "../core/tiers.ts";
import { Card } from "../parts/card.tsx";
import { Button } from "../parts/controls/button.tsx";
import { Day } from "../parts/controls/form.tsx";
import { type Fact, Facts } from "../parts/facts.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { useResource } from "../parts/use-resource.ts";
import { barsOf } from "./bars.ts";
import { Chart } from "./chart.tsx";
import { PRESETS, type Preset, type Range, rangeOf } from "./range.ts";
import "./usage.css";
import { UsageTable } from "./usage-table.tsx";

export default function UsagePage() {
  const { preset, ...range } = rangeOf(query.value, Date.now());
  const usage = useResource((signal) => copra.usage(range, { signal }), [range.from, range.to, account.value?.id]);
  return (
    <>
      <div class="page-head">
        <h1>Usage</h1>
        <RangeChoice range={range} preset={preset} />
      </div>
      <Loaded of={usage} what="the usage">
        {(value) => (
          <div class="stack">
            <UsageFigures total={value.total} />
            <Card title="Minutes of output">
              <div class="body">
                <Chart bars={barsOf(value.days)} />
              </div>
            </Card>
            <UsageTable usage={value} />
          </div>
        )}
      </Loaded>
    </>
  );
}

/** Ranges to choose from, or a first and a last day. */
function RangeChoice({ range, preset }: { readonly range: Range; readonly preset: Preset | null }) {
  const set = (changes: Partial<Range>): void => {
    const next = { ...range, ...changes };
    const [from, to] = next.from <= next.to ? [next.from, next.to] : [next.to, next.from];
    if (from !== "") setQuery({ range: "", from, to });
  };
  return (
    <div class="row">
      <fieldset class="row">
        <legend class="visually-hidden">Days</legend>
        {Object.entries(PRESETS).map(([name, word]) => (
          <Button
            key={name}
            text={word}
            aria-pressed={preset === name}
            onClick={() => setQuery({ range: name, from: "", to: "" })}
          />
        ))}
      </fieldset>
      {(["from", "to"] as const).map((name) => (
        <Day
          key={name}
          label={name === "from" ? "First day" : "Last day"}
          value={range[name]}
          set={(day) => set({ [name]: day })}
        />
      ))}
    </div>
  );
}

/** The sums of all days. */
function UsageFigures({ total }: { readonly total: UsageTotal }) {
  const { jobs, output_seconds, node_seconds, stored_bytes } = total;
  const seconds = TIERS.reduce((sum, tier) => sum + output_seconds[tier], 0);
  const ended = jobs.completed + jobs.failed + jobs.cancelled;
  const figures: readonly Fact[] = [
    ["Minutes of output", amount(seconds / 60), `${plural(ended, "job")}, ${count(jobs.failed)} failed`],
    [
      "Node hours",
      amount(node_seconds / 3600),
      seconds > 0 ? `${amount(node_seconds / seconds)} s for a second of output` : "",
    ],
    ["Stored", bytes(stored_bytes), "files of finished outputs"],
  ];
  return <Facts look="key-figures" facts={figures} />;
}
