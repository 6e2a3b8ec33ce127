// What a result may lack, whatever kind of file it is: the file, a track, or its end.
import { stat } from "node:fs/promises";
import { AppError } from "#shared/errors.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import type { TrackKind } from "#shared/plan/command/output-plan.ts";
import { toleranceMs } from "#shared/plan/source/output-length.ts";
import { probeFile } from "../source/probe/probe.ts";
import type { TaskDeps } from "../task/task-deps.ts";

export type MadeFile = { path: string; sizeBytes: number };

export async function madeFile(path: string): Promise<MadeFile> {
  const found = await stat(path).catch(() => null);
  if (!found?.isFile() || found.size === 0)
    throw new AppError("encoding_failed", "The encoder made fewer files than planned");
  return { path, sizeBytes: found.size };
}

/** ffmpeg ends well, too, when no frame of its input could be decoded: then the file is without content. */
const UNREADABLE =
  "The result is no readable file; the input may be damaged, or of a kind that this node's ffmpeg cannot decode";

/** What is wrong with a result is said in other words than what is wrong with an input. */
export async function probeResult(
  path: string,
  { ffprobe, signal }: Pick<TaskDeps, "ffprobe" | "signal">,
  demuxer?: string,
): Promise<MediaProbe> {
  try {
    return await probeFile(ffprobe, path, signal, demuxer);
  } catch (error) {
    const unreadable = error instanceof AppError && error.code === "input_not_media";
    throw unreadable ? new AppError("encoding_failed", UNREADABLE, { cause: error }) : error;
  }
}

/** Whether a result that ends there is long enough; so it is when nobody knows (null) how long it should be. */
export const isLongEnough = (endMs: number, expectedMs: number | null): boolean =>
  expectedMs === null || endMs >= expectedMs - toleranceMs(expectedMs);

export function tooShort(endMs: number, expectedMs: number): AppError {
  const seconds = (ms: number): string => (ms / 1000).toFixed(2);
  return new AppError(
    "encoding_failed",
    `The result ends at ${seconds(endMs)} s instead of ${seconds(expectedMs)} s; the source may be damaged or cut short`,
  );
}

const TRACK_WORDS = { video: "picture", audio: "sound" } as const satisfies Record<TrackKind, string>;

export const missingTrack = (kind: TrackKind): AppError =>
  new AppError(
    "encoding_failed",
    `The result has no ${TRACK_WORDS[kind]}; the source's may be damaged, or begin after the end of the output`,
  );
