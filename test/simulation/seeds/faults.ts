// The faults of a seeded run: their kinds, times and durations.
import type { Way } from "../platform/network.ts";
import type { SimulatedRun } from "./simulated-run.ts";

/** Shares of faulty requests, by way. */
type Storms = Record<Way, number>;
/** Injects a fault and returns its description. Lasting faults end after `lastsMs`. */
type Fault = (run: SimulatedRun, lastsMs: number, storms: Storms) => string;

const resets =
  (className: string, dropsSockets: boolean): Fault =>
  ({ service: { platform } }) => {
    for (const [name, object] of platform.objects) if (name.startsWith(className)) object.reset({ dropsSockets });
    return `all of ${className} lose their memory${dropsSockets ? " and their sockets" : ""}`;
  };

const storm =
  (way: Way, share: number): Fault =>
  (run, lastsMs, storms) => {
    storms[way] = share;
    run.hasLostFetches ||= way === "fetch";
    run.time.after(lastsMs, () => {
      storms[way] = 0;
    });
    return `${100 * share} % of all ${way} requests are lost for ${seconds(lastsMs)} s`;
  };

export const FAULTS: readonly Fault[] = [
  (run, lastsMs) => `${run.killNode({ isSilent: false, backAfterMs: lastsMs })} is killed, back after ${lastsMs} ms`,
  (run, lastsMs) => `${run.killNode({ isSilent: true, backAfterMs: lastsMs })} is switched off, back after ${lastsMs}`,
  (run, lastsMs) => `${run.takeNodeOffline(lastsMs)} reaches nothing for ${seconds(lastsMs)} s`,
  resets("JobObject", false),
  resets("NodeHub", false),
  resets("AccountObject", false),
  // A deploy of everything.
  resets("", true),
  ({ service, time }, lastsMs) => {
    service.platform.database.stalledUntil = time.now + lastsMs;
    return `the database stalls for ${seconds(lastsMs)} s`;
  },
  (run, lastsMs) => {
    run.receiverIsBackAt = run.time.now + lastsMs;
    return `the receiver of webhooks fails for ${seconds(lastsMs)} s`;
  },
  storm("call", 0.2),
  storm("query", 0.3),
  storm("node", 0.3),
  // A storage that is unreachable for four seconds fails a job.
  (run, lastsMs, storms) => storm("fetch", 0.15)(run, Math.min(lastsMs, 2000), storms),
];

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

/** From a fifth of a second to five minutes; each order of magnitude is equally likely. */
export const drawDurationMs = (random: () => number): number => Math.round(200 * 1500 ** random());
