import { Fragment } from "preact";
import type { Autoscale } from "../../client/index.ts";
import { count, duration } from "../core/format.ts";
import { Scroll } from "../parts/scroll.tsx";
import { backlogSeconds } from "./fleet.ts";

const CLASSES = ["encode", "inspect"] as const;

/** The tasks that run and wait, by pool, as autoscalers read them. */
export function Demand({ demand }: { readonly demand: Autoscale }) {
  const pools = Object.entries(demand.pools);
  if (pools.length === 0) return null;
  return (
    <section class="card demand" aria-labelledby="demand">
      <header>
        <h2 id="demand">Demand</h2>
        <span class="muted">The response of GET /v2/autoscale for an autoscaler</span>
      </header>
      <Scroll label="Demand by pool">
        <table>
          <thead>
            <tr>
              <th>Pool</th>
              <th>Tasks</th>
              <th class="number">Slots wanted</th>
              <th class="number">Run</th>
              <th class="number">Wait</th>
              <th class="number">Free slots</th>
              <th class="number">Oldest waits</th>
              <th class="number">A task takes</th>
              <th class="number">Until nothing waits</th>
            </tr>
          </thead>
          <tbody>
            {pools.map(([pool, demands]) => (
              <Fragment key={pool}>
                {CLASSES.map((slotClass) => {
                  const one = demands[slotClass];
                  const backlog = backlogSeconds(one);
                  return (
                    <tr key={slotClass}>
                      <th scope="row">{pool}</th>
                      <td>{slotClass}</td>
                      <td class="number">{count(one.wanted)}</td>
                      <td class="number">{count(one.running)}</td>
                      <td class="number">{count(one.waiting)}</td>
                      <td class="number">{count(one.free)}</td>
                      <td class="number">{one.waiting === 0 ? "–" : duration(one.oldest_wait_seconds)}</td>
                      <td class="number">{one.mean_task_seconds === 0 ? "–" : duration(one.mean_task_seconds)}</td>
                      <td class="number">
                        {backlog === 0 ? "–" : backlog === null ? "no slots" : `about ${duration(backlog)}`}
                      </td>
                    </tr>
                  );
                })}
              </Fragment>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}
