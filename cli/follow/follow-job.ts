// Follows a job to its end.
import type { Copra, Job, TaskView } from "../../client/index.ts";
import type { Context } from "../context.ts";
import { ProgressView } from "../terminal/progress-view.ts";
import { snapshotOf } from "./snapshot.ts";

/** The job at its end. With `--json`, `followJob` also writes a line for each change. */
export async function followToEnd(
  { output, now }: Context,
  copra: Copra,
  id: string,
  signal: AbortSignal,
  { lines = true }: { readonly lines?: boolean } = {},
): Promise<Job> {
  // Errors such as an unknown job appear at once; the stream itself reconnects for as long as it takes.
  let job = await copra.jobs.get(id, { signal });
  const tasks = new Map<string, TaskView>();
  const view = new ProgressView({ out: output.stderr, colors: output.wordColors, now, hidden: output.quiet });
  try {
    for await (const { event, data } of copra.jobs.events(id, { signal })) {
      if (output.json && lines) output.line({ event, data }, () => "");
      if (event === "tasks") for (const task of data.tasks) tasks.set(task.id, task);
      else job = data;
      view.show(snapshotOf(job, [...tasks.values()]));
    }
  } finally {
    view.end();
  }
  return job;
}
