// The figures of a job: duration, speed, remaining time.
import type { Job } from "../../../client/index.ts";
import { count, duration, plural, short, timeOf, took } from "../../core/format.ts";
import { copra } from "../../core/service.ts";
import { now } from "../../core/time.ts";
import { secondsOf } from "../../jobs/rows.ts";
import { type Fact, Facts } from "../../parts/facts.tsx";
import { Time } from "../../parts/time.tsx";
import { usePolled } from "../../parts/use-resource.ts";
import { rateOf } from "../live/rate.ts";
import type { TaskBook } from "../live/task-book.ts";

/** The queue changes with other jobs, and this page gets no events about them. */
const QUEUE_POLL_MS = 5000;

type Props = { readonly job: Job; readonly book: TaskBook | null; readonly endsMs: number | null };

export function Figures({ job, book, endsMs }: Props) {
  const isOver = job.completed_at !== null;
  const nowMs = isOver ? 0 : now.value;
  const seconds = secondsOf(job, nowMs);
  const isWaiting = !isOver && seconds === null;
  const tasks = book ? [...book.tasks.values()] : [];
  const rate = rateOf(tasks);
  const nodes = new Set(tasks.flatMap(({ node }) => node ?? [])).size;
  const { ahead = null, starts_in_seconds: start = null } = useQueue(job) ?? {};
  const { chunks = 0, reason } = job.ultrafast ?? {};
  const left = endsMs === null ? "–" : `about ${duration(Math.max(0, Math.ceil((endsMs - nowMs) / 1000)))}`;
  const facts: readonly Fact[] = [
    ["Created", <Time key="created" at={job.created_at} />],
    ["Took", isOver && seconds !== null && took(seconds)],
    ["Waits for", isWaiting && duration(Math.max(0, (nowMs - timeOf(job.created_at)) / 1000))],
    ["Before it", isWaiting && ahead !== null && (ahead === 0 ? "no job" : plural(ahead, "job"))],
    ["Begins in", isWaiting && ahead !== null && start !== null && `about ${duration(start)}`],
    ["Runs for", !isOver && seconds !== null && duration(Math.floor(seconds))],
    ["Left", !isOver && seconds !== null && left],
    ["Speed", !isOver && rate.speed > 0 && withUnit(`${short(rate.speed)}×`, "real time")],
    ["Frames", !isOver && rate.fps > 0 && `${count(rate.fps)} fps`],
    ["Work", !isOver && rate.running > 0 && withUnit(plural(rate.running, "task"), `on ${plural(rate.nodes, "node")}`)],
    ["Nodes", isOver && nodes > 0 && count(nodes)],
    ["Chunks", job.ultrafast && (chunks > 0 ? count(chunks) : <span title={reason}>in one piece</span>)],
  ];
  return <Facts look="figures large" facts={facts} />;
}

const withUnit = (value: string, unit: string) => (
  <>
    {value} <span class="muted">{unit}</span>
  </>
);

/** The place of a queued job in the queue. */
function useQueue({ id, state }: Job) {
  const load = async (signal: AbortSignal) => (state === "queued" ? copra.jobs.queue(id, { signal }) : null);
  return usePolled(load, [id, state], QUEUE_POLL_MS).value;
}
