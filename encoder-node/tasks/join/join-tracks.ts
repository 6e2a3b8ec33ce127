// The tracks of a chunked film, whole, in one folder: joined from what other nodes left in the scratch bucket.
import { mkdir, rename } from "node:fs/promises";
import { basename, join } from "node:path";
import { AppError } from "#shared/errors.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import { ALL_SOFTWARE } from "#shared/plan/command/capabilities.ts";
import { planSound } from "#shared/plan/plan-audio.ts";
import { type ChunkTrack, planChunk } from "#shared/plan/plan-chunk.ts";
import { STREAM_START_SECONDS } from "#shared/plan/streams/planned-stream.ts";
import type { ScratchTrack } from "#shared/protocol/chunking.ts";
import type { TaskOf } from "#shared/protocol/protocol.ts";
import type { TaskDeps } from "../../task/task-deps.ts";
import { probeResult } from "../../upload/made-file.ts";
import { isOtherFile } from "../audio.ts";
import { type ChunkFacts, readChunkFacts } from "../chunk/chunk-file.ts";
import { fetchParts, trackKey } from "./fetch-chunks.ts";
import { type JoinedTrack, openJoinedTrack } from "./join-track.ts";

/** One chunk of one track, as it was planned and as it is. */
export type JoinedChunk = {
  readonly planned: Pick<ChunkTrack, "output" | "track" | "frames" | "firstUs">;
  readonly facts: ChunkFacts;
};

export type JoinedSound = {
  readonly output: number;
  /** On the film's line. */
  readonly endMs: number;
};

export type JoinedFilm = {
  /** In order of time, those of one track after the other. */
  readonly chunks: readonly JoinedChunk[];
  readonly sounds: readonly JoinedSound[];
};

export type TracksWork = {
  readonly task: TaskOf<"join">;
  /** Those of the task that are wanted. */
  readonly outputs: readonly OutputSpec[];
  /** Where the tracks are to be, by their planned names; they grow there. */
  readonly folder: string;
  /** Where parts lie until they are joined. */
  readonly parts: string;
};

type Part = { readonly scratch: ScratchTrack; readonly planned: ChunkTrack };

/**
 * Brings all there is of the outputs into the folder. Throws AppError `chunk_mismatch` when chunks are missing, have other
 * frames than planned, or come with other files, else as `fetchParts` and `JoinedTrack.append` do.
 */
export async function joinTracks(work: TracksWork, deps: TaskDeps): Promise<JoinedFilm> {
  const { task, outputs, folder } = work;
  const wanted = new Set(outputs.map(({ index }) => index));
  const pictures = plannedParts(task, outputs);
  const sound = task.sound.filter(({ output }) => wanted.has(output));
  const parts = [...sound, ...pictures.map(({ scratch }) => scratch)];
  const totalBytes = parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const otherFiles = plannedFiles(task, outputs);
  const plannedOf = new Map(pictures.map(({ scratch, planned }) => [scratch, planned]));
  const joined = new Map<string, JoinedTrack>();
  const chunks: JoinedChunk[] = [];
  const sounds: JoinedSound[] = [];

  const take = async (part: ScratchTrack, path: string): Promise<void> => {
    const planned = plannedOf.get(part);
    if (planned) {
      const key = trackKey(part);
      const track = joined.get(key) ?? (await openJoinedTrack(join(folder, planned.file), "video"));
      joined.set(key, track);
      const facts = await track.append(path);
      checkFrames(part, planned, facts);
      chunks.push({ planned, facts });
    } else {
      // All that is not joined has its planned name already.
      const name = basename(part.name);
      if (!otherFiles.has(name)) throw mismatch(`comes with a file that is not planned (${name})`);
      const own = join(folder, name);
      await rename(path, own);
      if (isOtherFile(part)) return;
      const isStream = outputs.some(({ index, type }) => index === part.output && type === "httpstream");
      sounds.push({ output: part.output, endMs: await soundEndMs(own, isStream, deps) });
    }
  };

  await mkdir(work.parts, { recursive: true });
  deps.progress("transferring", 0);
  try {
    await fetchParts(parts, work.parts, deps, take, (bytes) => deps.progress("transferring", bytes / totalBytes));
  } finally {
    await Promise.all([...joined.values()].map((track) => track.close()));
  }
  return { chunks, sounds };
}

/** Sound of streams is fragmented, on the line of their segments. */
async function soundEndMs(path: string, isStream: boolean, deps: TaskDeps): Promise<number> {
  if (isStream) return endMs(await readChunkFacts(path, "audio"));
  const { format } = await probeResult(path, deps);
  return (Number(format.start_time ?? 0) + Number(format.duration ?? 0)) * 1000;
}

/** When a track on the line of segments ends, on the film's line. */
export const endMs = ({ end, timescale }: Pick<ChunkFacts, "end" | "timescale">): number =>
  (end / timescale - STREAM_START_SECONDS) * 1000;

function checkFrames({ frames: reported }: ScratchTrack, { frames }: ChunkTrack, facts: ChunkFacts): void {
  if (facts.frames === reported && (frames === null || frames === facts.frames)) return;
  throw mismatch(`has ${facts.frames} frames where ${frames ?? reported} were planned`);
}

const mismatch = (what: string): AppError => new AppError("chunk_mismatch", `A chunk of the film ${what}.`);

/** Of the sound, and of what else is not made in chunks: another node has named them. */
function plannedFiles({ probe }: TaskOf<"join">, outputs: readonly OutputSpec[]): ReadonlySet<string> {
  if (outputs.length === 0) return new Set();
  const { command } = planSound({ source: "", probe, outputs, can: ALL_SOFTWARE });
  return new Set([...(command?.tracks ?? []), ...(command?.files ?? [])].map(({ file }) => file));
}

/** Chunk by chunk, the tracks that each must have; plans depend on what is asked for only, not on who encoded them. */
function plannedParts({ probe, chunks }: TaskOf<"join">, outputs: readonly OutputSpec[]): Part[] {
  if (outputs.length === 0) return [];
  return chunks.flatMap(({ range, tracks }) => {
    const { command } = planChunk({ source: "", probe, outputs, can: ALL_SOFTWARE, chunk: range });
    return (command?.tracks ?? []).map((planned) => {
      const scratch = tracks.find(({ output, track }) => output === planned.output && track === planned.track);
      if (!scratch) throw mismatch(`has no track \`${planned.track}\``);
      return { scratch, planned };
    });
  });
}
