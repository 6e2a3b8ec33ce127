// The task `chunk`: encode the frames of one chunk, and store them in the scratch bucket.
import { AppError } from "#shared/errors.ts";
import { prerollOf } from "#shared/plan/chunks/chunkable-source.ts";
import { ptsOriginUs } from "#shared/plan/source/pts-origin.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import { type ChunkPlan, type ChunkRequest, planChunk } from "#shared/plan/tasks/plan-chunk.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { captionReader, fetchWatermarksOf } from "../../prepare/attachments.ts";
import { findTargets } from "../../prepare/find-targets.ts";
import { prepareCaptions } from "../../prepare/prepare-captions.ts";
import { type OnRuns, type RunDeps, runAll } from "../../prepare/run-planned.ts";
import { RunFiles } from "../../run-files/run-files.ts";
import type { Burns } from "../../text/burn-in/burn-files.ts";
import { type RangedDeps, type ServedSource, withRangedSource } from "../../workspace/read-ranged.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { inWorkspace } from "../../workspace/workspace.ts";
import { checkChunkTracks } from "./chunk-file.ts";
import { measureChunk } from "./chunk-quality.ts";
import { storedTexts } from "./fetch-chunks.ts";
import { type EncodedTrack, storeTracks } from "./store-tracks.ts";

/** Additional preroll for the second attempt, when the usual preroll did not give the planned frames; in ms. */
const MORE_PREROLL_MS = 20_000;

export function chunk(task: TaskOf<"chunk">, deps: TaskDeps): Promise<TaskResult> {
  return inWorkspace(deps.workFolder, (folder) =>
    withRangedSource(task, deps, async (served, rangedDeps) => {
      const { planned, burns } = await requestOf(task, served, folder, rangedDeps);
      const runDeps = { ...rangedDeps, burns };
      deps.progress("encoding", 0);
      const startedAt = Date.now();
      const { request, targets } = await withTargets(planned, folder, runDeps);
      const { tracks, encoder } = await encodeChunk(request, task.encoder, folder, runDeps);
      const encodeMs = Date.now() - startedAt;
      await measureChunk(request, tracks, { ...runDeps, folder });
      return { kind: "chunk", tracks: await storeTracks(tracks, deps), encoder, encodeMs, ...targets };
    }),
  );
}

type Targets = Pick<TaskResult & { kind: "chunk" }, "targets">;

/**
 * Searches the rate factors for requested VMAFs in the chunk: each chunk has the rate factors that its own frames need.
 */
async function withTargets(
  request: ChunkWork,
  folder: string,
  deps: RangedDeps & Pick<RunDeps, "burns">,
): Promise<{ request: ChunkWork; targets: Targets }> {
  const track = chooseTracks(request.probe).video;
  const { from, to } = request.chunk;
  const originUs = ptsOriginUs(request.probe);
  const fromMs = from ? (from.splitUs + originUs) / 1000 : 0;
  const toMs = to ? (to.splitUs + originUs) / 1000 : (track?.endMs ?? fromMs);
  const search = await findTargets({ ...request, folder, range: { fromMs, toMs } }, request.outputs, deps);
  const targets = [...search.reports].flatMap(([output, reports]) =>
    reports.map((target) => ({ output, target: { ...target, tried: [] } })),
  );
  return { request: { ...request, outputs: search.outputs }, targets: targets.length > 0 ? { targets } : {} };
}

/** The source, and the outputs to encode. */
export type ChunkWork = Omit<ChunkRequest, "capabilities" | "prerollMs">;

/** `network` is absent for a source that is a local file; `reads` then includes the file. */
type ChunkDeps = TaskDeps & Pick<RunDeps, "network" | "reads" | "burns">;

/** Throws when a watermark or captions cannot be fetched. The task then fails: every output needs this chunk. */
async function requestOf(
  { probe, outputs, chunk, texts = [] }: TaskOf<"chunk">,
  served: ServedSource,
  folder: string,
  deps: TaskDeps,
): Promise<{ planned: ChunkWork; burns: Burns | undefined }> {
  const videos = outputs.filter(({ type }) => type === "video");
  const watermarks = await fetchWatermarksOf(videos, folder, deps);
  const { channels, readTexts } = await storedTexts(texts, folder, deps);
  const readTrack = captionReader({ readTexts });
  const { burns, failed: unusable } = await prepareCaptions({ outputs, folder, probe, channels, readTrack }, deps);
  const failed = [...watermarks.failed, ...unusable];
  if (failed[0]) throw AppError.from(failed[0].failure);
  return { planned: { ...served, probe, outputs, watermarks: watermarks.watermarks, chunk }, burns };
}

type Command = NonNullable<ChunkPlan["command"]>;
export type EncodedChunk = { readonly tracks: readonly EncodedTrack[]; readonly encoder: string };

/**
 * Encodes a chunk. Retries in software when the hardware encoder fails, unless other chunks of the job were encoded
 * with it. Retries once with more preroll when the frames are not as planned. `required`: the encoder of the other
 * chunks, if there are any.
 */
export async function encodeChunk(
  request: ChunkWork,
  required: string | null,
  folder: string,
  deps: ChunkDeps,
): Promise<EncodedChunk> {
  const { longestGopMs } = request.chunk;
  let isSoftware = required !== null && encoderName(plannedCommand(request, false, deps), deps) !== required;
  let prerollMs: number | null = null;
  for (;;) {
    const command = plannedCommand(prerollMs === null ? request : { ...request, prerollMs }, isSoftware, deps);
    const encoder = encoderName(command, deps);
    if (required !== null && encoder !== required) throw notAvailable(required);
    const reads = [...(deps.reads ?? []), ...(request.watermarks?.values() ?? [])];
    const attempt = await tryChunk(command, folder, { ...deps, reads });
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
  folder: string,
  deps: ChunkDeps,
): Promise<{ tracks: EncodedTrack[] } | { failure: AppError }> {
  // A new folder for each attempt: files of a failed attempt must not pass for files of the next attempt.
  const files = await RunFiles.create(folder);
  const onProgress: OnRuns = (done, rate) => deps.progress("encoding", done / runs.length, rate);
  const failed = await runAll(runs, files, onProgress, deps);
  deps.signal.throwIfAborted();
  if (failed) return { failure: AppError.from(failed.failure) };
  try {
    return { tracks: await checkChunkTracks(tracks, files) };
  } catch (error) {
    if (error instanceof AppError) return { failure: error };
    throw error;
  }
}
