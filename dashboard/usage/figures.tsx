import type { UsageTotal } from "../../client/index.ts";
import { amount, bytes, count, money, plural } from "../core/format.ts";
import { costOf, TIERS } from "../core/list-prices.ts";
import { currentPrices } from "../core/prices.ts";
import { type Fact, Facts } from "../parts/facts.tsx";

/** The sums of all days. */
export function UsageFigures({ total }: { readonly total: UsageTotal }) {
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
    ["Elsewhere", money(costOf(output_seconds, currentPrices().prices)), "at a service that charges by the minute"],
  ];
  return <Facts look="key-figures" facts={figures} />;
}
