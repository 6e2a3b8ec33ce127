// Follows a job to its end.
import type { AttemptView, Copra, Job, TaskView } from "../../client/index.ts";
import type { Context } from "../context.ts";
import { printable } from "../terminal/printable.ts";
import { type Line, ProgressView, type Snapshot } from "../terminal/progress-view.ts";
import { apiTime } from "../terminal/values.ts";

/** Follows a job and returns it at its end. With `--json`, `followJob` also prints a line for each change. */
export async function followToEnd(
  { output, now }: Context,
  copra: Copra,
  id: string,
  signal: AbortSignal,
  { lines = true }: { readonly lines?: boolean } = {},
): Promise<Job> {
  // This request reports errors such as an unknown job at once. The event stream itself reconnects without a limit.
  let job = await copra.jobs.get(id, { signal });
  const tasks = new Map<string, TaskView>();
  const attempts = new Map<string, AttemptView>();
  const view = new ProgressView({ out: output.stderr, colors: output.wordColors, now, hidden: output.quiet });
  try {
    for await (const { event, data } of copra.jobs.events(id, { signal })) {
      if (output.json && lines) output.line({ event, data }, () => "");
      if (event === "tasks") {
        for (const task of data.tasks) tasks.set(task.id, task);
        for (const attempt of data.attempts) attempts.set(attempt.task, attempt);
      } else {
        job = data;
      }
      view.show(snapshotOf(job, [...tasks.values()], attempts));
    }
  } finally {
    view.end();
  }
  return job;
}

// Converts a job to the state that the progress view shows.

/** State of a job for the progress view. `attempts`: the last ended attempt of each task. */
export function snapshotOf(job: Job, tasks: readonly TaskView[], attempts: ReadonlyMap<string, AttemptView>): Snapshot {
  const running = tasks.filter(({ status }) => status === "running");
  return {
    progress: fraction(job.progress) ?? 0,
    state: workOf(job),
    endsMs: job.ends_at ? apiTime(job.ends_at) : null,
    note: repeatFact(tasks, attempts),
    detail: [
      job.waiting_for === undefined ? "" : `waits for ${printable(job.waiting_for)}`,
      ...taskFacts(tasks, running),
      job.ultrafast?.reason === undefined ? "" : "not in chunks",
    ]
      .filter((fact) => fact !== "")
      .join(" · "),
    lines: job.outputs.map(
      ({ key, status, progress }): Line => ({
        name: printable(key),
        progress: /(encoded|created|packaged)$/.test(status) ? 1 : fraction(progress),
        state: stateOf(status),
        detail: speedOf(running.filter(({ outputs }) => outputs.includes(key))),
      }),
    ),
  };
}

/** Why a task needs another attempt; empty if none does. */
function repeatFact(tasks: readonly TaskView[], attempts: ReadonlyMap<string, AttemptView>): string {
  const repeated = tasks.find(
    ({ id, status }) => (status === "waiting" || status === "running") && attempts.get(id)?.reason !== undefined,
  );
  const { attempt = 0, outcome = "", reason = "" } = attempts.get(repeated?.id ?? "") ?? {};
  return reason === "" ? "" : `attempt ${attempt} ${outcome}: ${printable(reason)}`;
}

function taskFacts(tasks: readonly TaskView[], running: readonly TaskView[]): string[] {
  const chunks = tasks.filter(({ kind }) => kind === "chunk");
  const nodes = new Set(running.flatMap(({ node }) => (node === undefined ? [] : [node])));
  const done = chunks.filter(({ status }) => status === "completed").length;
  return [
    chunks.length === 0 ? "" : `${done}/${chunks.length} chunks`,
    nodes.size < 2 ? "" : `${nodes.size} nodes`,
    speedOf(running),
  ];
}

/** Sum of the speeds of all tasks that run at the same time. */
function speedOf(tasks: readonly TaskView[]): string {
  const fps = tasks.reduce((sum, task) => sum + (task.fps ?? 0), 0);
  const speed = tasks.reduce((sum, task) => sum + (task.speed ?? 0), 0);
  return [
    fps > 0 ? `${fps >= 100 ? Math.round(fps) : fps.toFixed(1)} fps` : "",
    speed > 0 ? `${speed.toFixed(speed < 1 ? 2 : 1)}x` : "",
  ]
    .filter((fact) => fact !== "")
    .join(" ");
}

/** Returns `queued` for a waiting job, and `transferring` while the source is transferred. */
function workOf({ status, state, input }: Job): string {
  if (state === "running" && input.status === "input.transferring") return stateOf(input.status);
  return state ?? stateOf(status);
}

const stateOf = (status: string): string => status.slice(status.indexOf(".") + 1);
const fraction = (percent: string | undefined): number | null =>
  percent === undefined ? null : Number.parseInt(percent, 10) / 100;
