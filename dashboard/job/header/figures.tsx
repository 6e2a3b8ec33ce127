// The figures of a job: duration, speed, remaining time.
import type { Job } from "../../../client/index.ts";
import { count, duration, plural, short, timeOf } from "../../core/format.ts";
import { copra } from "../../core/service.ts";
import { now } from "../../core/time.ts";
import { secondsOf } from "../../jobs/rows.ts";
import { Time } from "../../parts/time.tsx";
import { usePolled } from "../../parts/use-polled.ts";
import { rateOf } from "../live/estimate.ts";
import type { TaskBook } from "../live/task-book.ts";

/** The queue changes with other jobs, and this page gets no events about them. */
const QUEUE_POLL_MS = 5000;

type Props = { readonly job: Job; readonly book: TaskBook | null; readonly endsMs: number | null };

export function Figures({ job, book, endsMs }: Props) {
  const isOver = job.completed_at !== null;
  const tasks = book ? [...book.tasks.values()] : [];
  const rate = rateOf(tasks);
  const nodes = new Set(tasks.flatMap(({ node }) => node ?? [])).size;
  return (
    <dl class="figures">
      <Figure name="Created">
        <Time at={job.created_at} />
      </Figure>
      {isOver ? <Took job={job} /> : <Running job={job} endsMs={endsMs} />}
      {!isOver && rate.speed > 0 && (
        <Figure name="Speed">
          {short(rate.speed)}× <span class="muted">real time</span>
        </Figure>
      )}
      {!isOver && rate.fps > 0 && <Figure name="Frames">{count(rate.fps)} fps</Figure>}
      {!isOver && rate.running > 0 && (
        <Figure name="Work">
          {plural(rate.running, "task")} <span class="muted">on {plural(rate.nodes, "node")}</span>
        </Figure>
      )}
      {isOver && nodes > 0 && <Figure name="Nodes">{count(nodes)}</Figure>}
      {job.ultrafast && (
        <Figure name="Chunks">
          {job.ultrafast.chunks > 0 ? (
            count(job.ultrafast.chunks)
          ) : (
            <span title={job.ultrafast.reason}>in one piece</span>
          )}
        </Figure>
      )}
    </dl>
  );
}

function Took({ job }: { readonly job: Job }) {
  const seconds = secondsOf(job, 0);
  return seconds === null ? null : <Figure name="Took">{duration(seconds)}</Figure>;
}

/** The figures that change each second. */
function Running({ job, endsMs }: { readonly job: Job; readonly endsMs: number | null }) {
  const runs = secondsOf(job, now.value);
  if (runs === null) {
    return (
      <>
        <Figure name="Waits for">{duration(Math.max(0, (now.value - timeOf(job.created_at)) / 1000))}</Figure>
        {job.state === "queued" && <Queue job={job} />}
      </>
    );
  }
  return (
    <>
      <Figure name="Runs for">{duration(Math.floor(runs))}</Figure>
      <Figure name="Left">{endsMs === null ? "–" : `about ${duration(Math.ceil((endsMs - now.value) / 1000))}`}</Figure>
    </>
  );
}

/** The job's place in the queue. */
function Queue({ job }: { readonly job: Job }) {
  const { value } = usePolled((signal) => copra.jobs.queue(job.id, { signal }), [job.id], QUEUE_POLL_MS);
  if (value?.ahead === undefined || value.ahead === null) return null;
  const { ahead, starts_in_seconds: seconds } = value;
  return (
    <>
      <Figure name="Before it">{ahead === 0 ? "no job" : plural(ahead, "job")}</Figure>
      {seconds !== null && <Figure name="Begins in">about {duration(seconds)}</Figure>}
    </>
  );
}

function Figure({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="number">{children}</dd>
    </div>
  );
}
