// The task `chunk`: encode the frames of one chunk, and store them in the scratch bucket.
import { AppError } from "#shared/errors.ts";
import { prerollOf } from "#shared/plan/chunks/chunkable-source.ts";
import { ptsOriginUs } from "#shared/plan/source/pts-origin.ts";
import { type ChunkPlan, type ChunkRequest, planChunk } from "#shared/plan/tasks/plan-chunk.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { failOnFailedOutput, type Prepared, prepare } from "../../prepare/prepare.ts";
import { RunFiles } from "../../run-files/run-files.ts";
import { type OnRuns, runOn } from "../../workspace/run-planned.ts";
import { type EncodedTrack, storeTracks } from "../../workspace/scratch.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { type TaskSource, withRangedSource } from "../../workspace/task-source.ts";
import { storedTexts } from "../texts.ts";
import { checkChunkTracks } from "./chunk-file.ts";
import { measureChunk } from "./chunk-quality.ts";

/** Additional preroll for the second attempt, when the usual preroll did not give the planned frames; in ms. */
const MORE_PREROLL_MS = 20_000;

/** Every output needs this chunk: the task fails if an output's watermark or captions cannot be fetched. */
export function chunk(task: TaskOf<"chunk">, deps: TaskDeps): Promise<TaskResult> {
  const { outputs, chunk: span } = task;
  return withRangedSource(task, deps, async (source, rangedDeps) => {
    const texts = await storedTexts(task.texts ?? [], source.folder, rangedDeps);
    deps.progress("encoding", 0);
    const startedAt = Date.now();
    const work = { ...source, outputs, texts, range: rangeOf(task, source), onEnded: failOnFailedOutput };
    const prepared = await prepare(["watermarks", "captions", "targets"], work, rangedDeps);
    const request = { ...prepared, chunk: span };
    const { tracks, encoder } = await encodeChunk(request, task.encoder, rangedDeps);
    const encodeMs = Date.now() - startedAt;
    await measureChunk(request, tracks, rangedDeps);
    const stored = await storeTracks(tracks, deps);
    const targets = [...prepared.targets].flatMap(([output, reports]) =>
      reports.map((target) => ({ output, target: { ...target, tried: [] } })),
    );
    return { kind: "chunk", tracks: stored, encoder, encodeMs, ...(targets.length > 0 ? { targets } : {}) };
  });
}

/** The time of a chunk in its source. Each chunk has the rate factors that its own frames need. */
function rangeOf(
  { chunk: { from, to }, outputs }: TaskOf<"chunk">,
  { probe, tracks }: TaskSource,
): { fromMs: number; toMs: number } {
  const originUs = ptsOriginUs(probe);
  const clip = outputs[0]?.clip;
  const fromMs = from ? (from.splitUs + originUs) / 1000 : (clip?.startMs ?? 0);
  const endMs = Math.min(tracks.video?.endMs ?? fromMs, clip?.endMs ?? Number.POSITIVE_INFINITY);
  return { fromMs, toMs: to ? (to.splitUs + originUs) / 1000 : endMs };
}

/** The source, and the outputs to encode. */
type ChunkWork = Prepared & Pick<ChunkRequest, "chunk">;

type Command = NonNullable<ChunkPlan["command"]>;
type EncodedChunk = { readonly tracks: readonly EncodedTrack[]; readonly encoder: string };

/**
 * Encodes a chunk. Retries in software when the hardware encoder fails, unless other chunks of the job were encoded
 * with it. Retries once with more preroll when the frames are not as planned. `required`: the encoder of the other
 * chunks, if there are any.
 */
async function encodeChunk(request: ChunkWork, required: string | null, deps: TaskDeps): Promise<EncodedChunk> {
  const { longestGopMs } = request.chunk;
  let isSoftware = required !== null && encoderName(plannedCommand(request, false, deps), deps) !== required;
  let prerollMs: number | null = null;
  for (;;) {
    const command = plannedCommand(prerollMs === null ? request : { ...request, prerollMs }, isSoftware, deps);
    const encoder = encoderName(command, deps);
    if (required !== null && encoder !== required) throw notAvailable(required);
    const attempt = await tryChunk(command, request, deps);
    if ("tracks" in attempt) return { ...attempt, encoder };
    const { failure } = attempt;
    deps.log.warn("chunk not encoded", { code: failure.code, error: failure.message, encoder });
    if (failure.code === "chunk_mismatch" && prerollMs === null) {
      prerollMs = (prerollOf(request.probe.format.format_name ?? "", longestGopMs) ?? 0) + MORE_PREROLL_MS;
    } else if (required === null && command.tracks.some(({ inHardware }) => inHardware)) isSoftware = true;
    else throw failure;
  }
}

function plannedCommand(
  request: ChunkWork & { readonly prerollMs?: number },
  isSoftware: boolean,
  deps: TaskDeps,
): Command {
  const capabilities = isSoftware ? { ...deps.capabilities, hardware: null } : deps.capabilities;
  const { command, failures } = planChunk({ ...request, capabilities });
  if (failures[0]) throw AppError.from(failures[0].failure);
  if (!command) throw new AppError("node_failed", "The chunk has nothing to encode");
  return command;
}

const MAX_ENCODER_CHARS = 200;

/** The encoder, which all chunks of a job must share: other encoders or versions write other headers and frames. */
const encoderName = ({ tracks }: Command, { capabilities }: TaskDeps): string =>
  `${[...new Set(tracks.map(({ encoder }) => encoder))].join(", ")} ${capabilities.ffmpegVersion}`.slice(
    0,
    MAX_ENCODER_CHARS,
  );

const notAvailable = (encoder: string): AppError =>
  new AppError(
    "encoder_not_available",
    `The other chunks of the video are encoded with ${encoder}, which this node does not have.`,
  );

async function tryChunk(
  { runs, tracks }: Command,
  request: ChunkWork,
  deps: TaskDeps,
): Promise<{ tracks: EncodedTrack[] } | { failure: AppError }> {
  // A new folder for each attempt: files of a failed attempt must not pass for files of the next attempt.
  const files = await RunFiles.create(request.folder);
  const onProgress: OnRuns = (done, rate) => deps.progress("encoding", done / runs.length, rate);
  const failed = await runOn(request, runs, files, onProgress, deps);
  deps.signal.throwIfAborted();
  if (failed) return { failure: AppError.from(failed.failure) };
  try {
    return { tracks: await checkChunkTracks(tracks, files) };
  } catch (error) {
    if (error instanceof AppError) return { failure: error };
    throw error;
  }
}
