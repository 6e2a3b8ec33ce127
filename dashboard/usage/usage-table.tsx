import type { Usage, UsageDay, UsageTotal } from "../../client/index.ts";
import { amount, bytes, count, date } from "../core/format.ts";
import { TIER_NAMES, TIERS } from "../core/tiers.ts";
import { Card } from "../parts/card.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { csvOf } from "./bars.ts";

/** The numbers of all days with usage, newest first, and their sums. */
export function UsageTable({ usage }: { readonly usage: Usage }) {
  const days = usage.days.filter(({ jobs, node_seconds, stored_bytes }) => {
    return jobs.completed + jobs.failed + jobs.cancelled + node_seconds + stored_bytes > 0;
  });
  return (
    <Card title="Days" actions={<CopyButton label="Copy as CSV" text={() => csvOf(usage.days)} />}>
      <Table
        label="Usage by day"
        class="days-table"
        columns={[["Day (UTC)", ({ day }) => date(`${day}T12:00:00`), "head"], ...NUMBERS]}
        rows={days.toReversed()}
        keyOf={({ day }: UsageDay) => day}
        empty="No job ended on these days."
        sums={["Total", ...NUMBERS.map(([, cell]) => cell(usage.total))]}
      />
    </Card>
  );
}

const NUMBERS: readonly Column<UsageTotal>[] = [
  ["Completed", ({ jobs }) => count(jobs.completed), "number"],
  ["Failed", ({ jobs }) => count(jobs.failed), "number"],
  ["Canceled", ({ jobs }) => count(jobs.cancelled), "number"],
  ...TIERS.map(
    (tier): Column<UsageTotal> => [`${TIER_NAMES[tier]} min`, (day) => amount(day.output_seconds[tier] / 60), "number"],
  ),
  ["Node hours", ({ node_seconds }) => amount(node_seconds / 3600), "number"],
  ["Stored", ({ stored_bytes }) => bytes(stored_bytes), "number"],
];
