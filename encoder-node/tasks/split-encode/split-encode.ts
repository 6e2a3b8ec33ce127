// Encodes the videos of a task in chunks on this node, several at the same time, where one run of ffmpeg would leave
// cores idle. The chunks are planned and joined as those of several nodes (docs/ultrafast.md).
import { AppError } from "#shared/errors.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import { messageOf } from "#shared/log.ts";
import type { PlannedCommand } from "#shared/plan/output-plan.ts";
import { planJoin } from "#shared/plan/plan-join.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import type { ChunkSpan } from "#shared/protocol/chunks.ts";
import type { Publications } from "../../publish/publisher.ts";
import { RunFiles } from "../../run-files/run-files.ts";
import type { TaskDeps } from "../../task/task-deps.ts";
import { checkOutput } from "../encode/check-output.ts";
import type { Encoded } from "../encode/deliver-outputs.ts";
import { abortedWhenAllBroken, type EquippedWork, type SplitEncode } from "../encode/encode-outputs.ts";
import { runAll } from "../encode/run-planned.ts";
import { chooseRuns } from "./choose-runs.ts";
import { encodeAll } from "./encode-all.ts";
import { localChunks } from "./local-chunks.ts";

/**
 * Returns how to encode these outputs in chunks, or null where one run is as fast. The returned function resolves to
 * null when the chunks cannot be made or joined: the outputs are then to be encoded in one run.
 */
export const splitEncode: SplitEncode = async (work, outputs, deps) => {
  const { splitOn, capabilities } = deps;
  const { probe } = work.task;
  if (!splitOn) return null;
  const runs = chooseRuns(outputs, chooseTracks(probe), capabilities, splitOn);
  if (runs === 1) return null;
  const chunks = await localChunks({ source: work.source, probe }, outputs, runs, deps);
  if (!chunks.ok) {
    deps.log.info("Video not split", { reason: chunks.error });
    return null;
  }
  const split = { runs: Math.min(runs, chunks.value.length), chunks: chunks.value };
  return () => encodeSplit({ work, outputs, ...split, cores: Math.ceil(splitOn.cpus / split.runs) }, deps);
};

type Split = {
  readonly work: EquippedWork;
  readonly outputs: readonly OutputSpec[];
  readonly runs: number;
  /** Of each run. */
  readonly cores: number;
  readonly chunks: readonly ChunkSpan[];
};

async function encodeSplit(
  { work, outputs, runs, cores, chunks }: Split,
  deps: TaskDeps,
): Promise<readonly Encoded[] | null> {
  deps.log.info("Video split", { chunks: chunks.length, runs });
  const { source, task } = work;
  const files = await RunFiles.create(work.folder);
  const joined = { probe: task.probe, capabilities: deps.capabilities, folder: files.folder };
  const commands = outputs.map((spec) => planJoin({ ...joined, outputs: [spec] }));
  const planned = commands.flatMap((command) => command.outputs);
  const publications = await work.publisher.follow(planned, files, work.subtitles);
  const useless = abortedWhenAllBroken(planned, publications);
  const own = { ...deps, signal: AbortSignal.any([deps.signal, useless]) };
  const done = await made(own, async () => {
    const request = { source, probe: task.probe, outputs, watermarks: work.watermarks, cores };
    await encodeAll({ request, chunks, runs, files, chunkFolder: work.folder }, own);
    for (const command of commands) await joinOutput(command, files, own);
  });
  deps.signal.throwIfAborted();
  if (!done && !useless.aborted) {
    await discard(publications, files);
    return null;
  }
  return Promise.all(
    planned.map(async (output) => {
      const checked = await checkOutput(output, { task, files, publications }, deps);
      const { encoder, note } = output;
      return "failure" in checked
        ? checked
        : { ...checked, ...(encoder ? { encoder } : {}), ...(note ? { note } : {}) };
    }),
  );
}

/** Whether the work succeeded. */
async function made({ signal, log }: TaskDeps, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!signal.aborted) log.warn("Split encode failed, encoding in one run", { error: messageOf(error) });
    return false;
  }
}

async function joinOutput({ runs }: PlannedCommand, files: RunFiles, deps: TaskDeps): Promise<void> {
  const failed = await runAll(runs, files, () => undefined, deps);
  if (failed) throw AppError.from(failed.failure);
}

async function discard(publications: Publications, files: RunFiles): Promise<void> {
  await Promise.all([...publications.values()].map((publication) => publication.stop()));
  await files.remove();
}
