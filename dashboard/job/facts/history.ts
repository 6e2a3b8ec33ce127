// The known history of a job, from its facts and from the events that this page observed. Pure.
import type { Job } from "../../../client/index.ts";
import { timeOf } from "../../core/format.ts";
import type { LogEntry } from "../live/observed-log.ts";
import { type Bar, nameOf } from "../timeline/bars.ts";

/** Verbs for the ends of attempts. */
const ENDED: Readonly<Record<string, string>> = {
  completed: "completed on",
  failed: "failed on",
  lost: "was lost with",
  returned: "was handed back by",
  superseded: "was not needed any more from",
  cancelled: "was canceled on",
};
const BAD: ReadonlySet<string> = new Set(["failed", "lost", "returned"]);

/** All known entries, the newest first. */
export function historyOf(job: Job, bars: readonly Bar[], observed: readonly LogEntry[]): LogEntry[] {
  const entries: LogEntry[] = [
    { atMs: timeOf(job.created_at), text: "The job was created", kind: "info" },
    ...bars.flatMap(entriesOf),
    ...observed,
  ];
  const hasEnd = observed.some(({ text }) => text.startsWith("The job: "));
  if (job.completed_at !== null && !hasEnd) {
    const kind = job.status === "job.completed" ? "good" : "bad";
    // The API's dates are in whole seconds: the end of the job is placed after the last entry.
    const last = Math.max(timeOf(job.completed_at), ...entries.map(({ atMs }) => atMs));
    entries.push({ atMs: last, text: `The job: ${job.status.replace(/^job\./, "")}`, kind });
  }
  return entries.reverse().sort((a, b) => b.atMs - a.atMs);
}

function entriesOf(bar: Bar): LogEntry[] {
  const name = `${nameOf(bar)}${bar.attempt > 1 ? `, attempt ${bar.attempt},` : ""}`;
  const second = bar.isSpeculative ? " as a second attempt" : "";
  const start: LogEntry = { atMs: bar.fromMs, text: `${name} started on ${bar.node}${second}`, kind: "info" };
  if (bar.toMs === null) return [start];
  const reason = bar.reason === undefined ? "" : `: ${bar.reason}`;
  const text = `${name} ${ENDED[bar.state]} ${bar.node}${reason}`;
  return [start, { atMs: bar.toMs, text, kind: BAD.has(bar.state) ? "bad" : "info" }];
}
