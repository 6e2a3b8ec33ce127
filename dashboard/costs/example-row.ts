// The examples in the guide on costs, for readers without scripts.
import type { Ladder } from "./ladders.ts";
import { monthlyCost } from "./monthly-cost.ts";

/**
 * What the calculator begins with, and the examples use. Lengths in minutes, prices in US dollars, `busy` in percent.
 */
export const DEFAULTS = { minutes: 10_000, minutesPerVideo: 5, perHour: 0.2, cores: 8, busy: 50 } as const;

/** A row of the table in Markdown, for a control plane on Cloudflare. */
export function exampleRow(ladder: Ladder): string {
  const { minutes, minutesPerVideo, perHour, cores, busy } = DEFAULTS;
  const cost = monthlyCost({ minutes, minutesPerVideo, ladder }, { perHour, cores, busy: busy / 100 }, "cloudflare");
  const money = (value: number): string => `$${value.toFixed(2)}`;
  const cells = [
    ladder.title,
    cost.machineHours.toFixed(1),
    ...[cost.machines, cost.controlPlane, cost.machines + cost.controlPlane, cost.elsewhere].map(money),
  ];
  return `| ${cells.join(" | ")} |`;
}
