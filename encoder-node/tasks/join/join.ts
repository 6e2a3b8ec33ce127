// The task `join`: put the chunks of a film together, add the sound, and bring the outputs to the storage.
import { mkdir } from "node:fs/promises";
import { join as pathOf } from "node:path";
import type { HttpStreamOutput, OutputSpec } from "#shared/job/output-spec.ts";
import { ALL_SOFTWARE } from "#shared/plan/command/capabilities.ts";
import type { PlannedCommand } from "#shared/plan/command/planned-command.ts";
import { planJoin } from "#shared/plan/plan-join.ts";
import type { TaskOf, TaskResult } from "#shared/protocol/protocol.ts";
import { openPublisher, type Publications, type Publisher } from "../../publish/publisher.ts";
import type { TaskDeps } from "../../task/task-deps.ts";
import { inWorkspace } from "../../task/workspace.ts";
import { checkOutput, type FailedOutput, type MadeOutput } from "../encode/check-output.ts";
import { openDelivery } from "../encode/deliver-outputs.ts";
import { fetchExtras } from "../encode/fetch-extras.ts";
import { runAll } from "../encode/run-planned.ts";
import { seamReceipt } from "./chunk-boundaries.ts";
import { type JoinedFilm, joinTracks } from "./join-tracks.ts";

export function join(task: TaskOf<"join">, deps: TaskDeps): Promise<TaskResult> {
  return inWorkspace(deps.workFolder, async (folder) => {
    const publisher = openPublisher(task.outputs.filter(isStream), deps);
    // Whether the film is whole is decided by the task's end alone, so no output is reported before that.
    const delivery = openDelivery(task.outputs.length, { ...deps, report: async () => false });
    try {
      const { film, ended } = await joinOutputs({ task, folder, publisher }, deps);
      deps.encoded();
      delivery.add(ended);
      return { kind: "join", outputs: await delivery.finish(), seams: seamReceipt(film) };
    } finally {
      await Promise.all([publisher.stop(), delivery.stop()]);
    }
  });
}

const isStream = (spec: OutputSpec): spec is HttpStreamOutput => spec.type === "httpstream";

type JoinWork = { readonly task: TaskOf<"join">; readonly folder: string; readonly publisher: Publisher };
type Joined = { readonly film: JoinedFilm; readonly ended: readonly (MadeOutput | FailedOutput)[] };

async function joinOutputs({ task, folder, publisher }: JoinWork, deps: TaskDeps): Promise<Joined> {
  const { failed, subtitles } = await fetchExtras(task.outputs.filter(isStream), folder, deps);
  const outputs = task.outputs.filter(({ index }) => !failed.some(({ output }) => output === index));
  // Nothing is encoded here, so it does not matter what this node could encode.
  const commands = outputs.map((spec) => planJoin({ probe: task.probe, outputs: [spec], can: ALL_SOFTWARE }));
  const work = pathOf(folder, "work");
  await mkdir(work, { mode: 0o700 });
  // Segments go out as soon as they are joined, while later chunks are still on their way.
  const publications = await publisher.follow(
    commands.flatMap(({ outputs }) => outputs),
    work,
    subtitles,
  );
  const film = await joinTracks({ task, outputs, folder: work, parts: pathOf(folder, "parts") }, deps);
  const ended: (MadeOutput | FailedOutput)[] = [...failed];
  for (const [at, command] of commands.entries()) {
    const tell = (done: number): void => deps.progress("encoding", (at + done) / commands.length);
    ended.push(...(await finishOutput(command, { task, work, publications, tell }, deps)));
  }
  return { film, ended };
}

type Finishing = {
  readonly task: TaskOf<"join">;
  readonly work: string;
  readonly publications: Publications;
  /** Takes how much of the output is done. */
  readonly tell: (done: number) => void;
};

/** Runs what is left to do for one output, and looks at the result. */
async function finishOutput(
  { runs, outputs }: PlannedCommand,
  { task, work, publications, tell }: Finishing,
  deps: TaskDeps,
): Promise<(MadeOutput | FailedOutput)[]> {
  const failed = await runAll(runs, work, (done) => tell(done / runs.length), deps);
  deps.signal.throwIfAborted();
  if (failed) {
    await Promise.all(outputs.map(({ output }) => publications.get(output)?.stop()));
    return outputs.map(({ output }) => ({ output, failure: failed.failure }));
  }
  const origin = { task, source: "" };
  return Promise.all(
    outputs.map(async (planned) => {
      const checked = await checkOutput(planned, origin, work, publications.get(planned.output), deps);
      return { ...checked, ...(planned.note && !("failure" in checked) ? { note: planned.note } : {}) };
    }),
  );
}
