// The task `chunk`: encode the pictures of one part of the film, and keep them in the scratch bucket.
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "#shared/errors.ts";
import { leadOf } from "#shared/plan/chunks/chunkable.ts";
import { type ChunkPlan, type ChunkRequest, planChunk } from "#shared/plan/plan-chunk.ts";
import type { TaskOf, TaskResult } from "#shared/protocol/protocol.ts";
import { type ReadingDeps, readingSource, type ServedSource } from "../../task/ranged-sources.ts";
import type { TaskDeps } from "../../task/task-deps.ts";
import { inWorkspace } from "../../task/workspace.ts";
import { fetchExtras } from "../encode/fetch-extras.ts";
import { type RunDeps, runAll } from "../encode/run-planned.ts";
import { type MadeTrack, madeTracks } from "./chunk-check.ts";
import { storeTracks } from "./chunk-store.ts";

/** How much longer before the chunk decoding begins when the usual lead did not give the right frames, in ms. */
const LONGER_LEAD_MS = 20_000;

export function chunk(task: TaskOf<"chunk">, deps: TaskDeps): Promise<TaskResult> {
  return inWorkspace(deps.workFolder, (folder) =>
    readingSource(task, deps, async (served, reading) => {
      const request = await requestOf(task, served, folder, reading);
      deps.progress("encoding", 0);
      const startedAt = Date.now();
      const { tracks, encoder } = await encodeChunk(request, task.encoder, folder, reading);
      const encodeMs = Date.now() - startedAt;
      return { kind: "chunk", tracks: await storeTracks(tracks, deps), encoder, encodeMs };
    }),
  );
}

type Request = Omit<ChunkRequest, "can" | "leadMs">;

/** Throws when a watermark is not to be had: all other outputs of the film would go without this chunk, too. */
async function requestOf(
  { probe, outputs, chunk }: TaskOf<"chunk">,
  served: ServedSource,
  folder: string,
  deps: TaskDeps,
): Promise<Request> {
  const films = outputs.filter(({ type }) => type === "video");
  const { watermarks, failed } = await fetchExtras(films, folder, deps);
  if (failed[0]) throw new AppError(failed[0].failure.code, failed[0].failure.message);
  return { ...served, probe, outputs, watermarks, chunk };
}

type Command = NonNullable<ChunkPlan["command"]>;
type Encoded = { readonly tracks: readonly MadeTrack[]; readonly encoder: string };

/** Tries in software what hardware fails at, unless the film's other chunks are of that hardware; and once with a longer lead. */
async function encodeChunk(request: Request, wish: string | null, folder: string, deps: ReadingDeps): Promise<Encoded> {
  const { longestGopMs } = request.chunk;
  let isSoftware = wish !== null && describe(planned(request, false, deps), deps) !== wish;
  let leadMs: number | null = null;
  for (;;) {
    const command = planned(leadMs === null ? request : { ...request, leadMs }, isSoftware, deps);
    const encoder = describe(command, deps);
    if (wish !== null && encoder !== wish) throw notAvailable(wish);
    const tried = await tryChunk(command, folder, { ...deps, reads: [...(request.watermarks?.values() ?? [])] });
    if ("tracks" in tried) return { ...tried, encoder };
    deps.log.warn("Chunk not made", { code: tried.failure.code, error: tried.failure.message, encoder });
    if (tried.failure.code === "chunk_mismatch" && leadMs === null) {
      leadMs = (leadOf(request.probe.format.format_name ?? "", longestGopMs) ?? 0) + LONGER_LEAD_MS;
    } else if (wish === null && command.tracks.some(({ inHardware }) => inHardware)) isSoftware = true;
    else throw tried.failure;
  }
}

function planned(request: Request & { readonly leadMs?: number }, isSoftware: boolean, deps: TaskDeps): Command {
  const { capabilities } = deps;
  const can = isSoftware ? { ...capabilities, hardware: null } : capabilities;
  const { command, refusals } = planChunk({ ...request, can });
  const [refusal] = refusals;
  if (refusal) throw new AppError(refusal.failure.code, refusal.failure.message);
  if (!command) throw new AppError("node_failed", "There is nothing to encode in a chunk");
  return command;
}

const MAX_ENCODER_CHARS = 200;

/** What all chunks of a film must have in common: other encoders, or versions, write other headers and other pictures. */
const describe = ({ tracks }: Command, { capabilities }: TaskDeps): string =>
  `${[...new Set(tracks.map(({ encoder }) => encoder))].join(", ")} ${capabilities.ffmpegVersion}`.slice(
    0,
    MAX_ENCODER_CHARS,
  );

const notAvailable = (wish: string): AppError =>
  new AppError(
    "encoder_not_available",
    `The film's other chunks are encoded by ${wish}, which this node does not have.`,
  );

async function tryChunk(
  { runs, tracks }: Command,
  folder: string,
  deps: ReadingDeps & Pick<RunDeps, "reads">,
): Promise<{ tracks: MadeTrack[] } | { failure: AppError }> {
  // A folder for each try: what a failed one left behind must not pass for the work of the next.
  const own = await mkdtemp(join(folder, "run-"));
  const tell = (done: number): void => deps.progress("encoding", done / runs.length);
  const failed = await runAll(runs, own, tell, deps);
  deps.signal.throwIfAborted();
  if (failed) return { failure: new AppError(failed.failure.code, failed.failure.message) };
  try {
    return { tracks: await madeTracks(tracks, own) };
  } catch (error) {
    if (error instanceof AppError) return { failure: error };
    throw error;
  }
}
