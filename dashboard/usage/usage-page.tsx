// The usage of the account by day, and its price at another service.
import { query, setQuery } from "../core/location.ts";
import { copra } from "../core/service.ts";
import { account } from "../core/session.ts";
import { Loading } from "../parts/loading.tsx";
import { Problem } from "../parts/problem.tsx";
import { useResource } from "../parts/use-resource.ts";
import { barsOf } from "./bars.ts";
import { Chart } from "./chart.tsx";
import { UsageFigures } from "./figures.tsx";
import { PRESETS, type Preset, type Range, rangeOf } from "./range.ts";
import { Savings } from "./savings.tsx";
import "./usage.css";
import { UsageTable } from "./usage-table.tsx";

export default function UsagePage() {
  const { preset, ...range } = rangeOf(query.value, Date.now());
  const { value, error, reload } = useResource(
    (signal) => copra.usage(range, { signal }),
    [range.from, range.to, account.value?.id],
  );
  return (
    <>
      <div class="page-head">
        <h1>Usage</h1>
        <RangeChoice range={range} preset={preset} />
      </div>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {value === undefined && error === undefined && <Loading what="the usage" />}
      {value && (
        <div class="stack">
          <UsageFigures total={value.total} />
          <div class="usage-columns">
            <section class="card" aria-labelledby="output">
              <header>
                <h2 id="output">Minutes of output</h2>
              </header>
              <div class="body">
                <Chart bars={barsOf(value.days)} />
              </div>
            </section>
            <Savings seconds={value.total.output_seconds} />
          </div>
          <UsageTable usage={value} />
        </div>
      )}
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
          <button
            type="button"
            key={name}
            aria-pressed={preset === name}
            onClick={() => setQuery({ range: name, from: "", to: "" })}
          >
            {word}
          </button>
        ))}
      </fieldset>
      <input
        type="date"
        aria-label="First day"
        value={range.from}
        onChange={(event) => set({ from: event.currentTarget.value })}
      />
      <input
        type="date"
        aria-label="Last day"
        value={range.to}
        onChange={(event) => set({ to: event.currentTarget.value })}
      />
    </div>
  );
}
