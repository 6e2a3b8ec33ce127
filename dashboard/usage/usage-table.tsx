import type { Usage, UsageTotal } from "../../client/index.ts";
import { amount, bytes, count, date } from "../core/format.ts";
import { TIER_NAMES, TIERS } from "../core/list-prices.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Scroll } from "../parts/scroll.tsx";
import { csvOf } from "./bars.ts";

/** The numbers of all days with usage, newest first. */
export function UsageTable({ usage }: { readonly usage: Usage }) {
  const days = usage.days.filter(({ jobs, node_seconds, stored_bytes }) => {
    return jobs.completed + jobs.failed + jobs.cancelled + node_seconds + stored_bytes > 0;
  });
  return (
    <section class="card" aria-labelledby="days">
      <header>
        <h2 id="days">Days</h2>
        <CopyButton label="Copy as CSV" text={() => csvOf(usage.days)} />
      </header>
      <div class="days-table">
        <Scroll label="Usage by day">
          <table>
            <thead>
              <tr>
                <th>Day (UTC)</th>
                <th class="number">Completed</th>
                <th class="number">Failed</th>
                <th class="number">Canceled</th>
                {TIERS.map((tier) => (
                  <th class="number" key={tier}>
                    {TIER_NAMES[tier]} min
                  </th>
                ))}
                <th class="number">Node hours</th>
                <th class="number">Stored</th>
              </tr>
            </thead>
            <tbody>
              {days.toReversed().map((day) => (
                <tr key={day.day}>
                  <th scope="row">{date(`${day.day}T12:00:00`)}</th>
                  <Numbers of={day} />
                </tr>
              ))}
              {days.length === 0 && (
                <tr>
                  <td colSpan={10} class="muted">
                    No job ended on these days.
                  </td>
                </tr>
              )}
            </tbody>
            <tfoot>
              <tr>
                <th scope="row">Total</th>
                <Numbers of={usage.total} />
              </tr>
            </tfoot>
          </table>
        </Scroll>
      </div>
    </section>
  );
}

function Numbers({ of: { jobs, output_seconds, node_seconds, stored_bytes } }: { readonly of: UsageTotal }) {
  return (
    <>
      {[jobs.completed, jobs.failed, jobs.cancelled].map((number, at) => (
        <td class="number" key={at}>
          {count(number)}
        </td>
      ))}
      {TIERS.map((tier) => (
        <td class="number" key={tier}>
          {amount(output_seconds[tier] / 60)}
        </td>
      ))}
      <td class="number">{amount(node_seconds / 3600)}</td>
      <td class="number">{bytes(stored_bytes)}</td>
    </>
  );
}
