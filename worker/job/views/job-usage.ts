// Usage of a job. Its row in the index carries the usage to its account (db/usage.ts).
import { isMotionVideo } from "#shared/media/choose-streams.ts";
import type { MediaProbe, ProbedStream } from "#shared/media/media-probe.ts";
import type { JobUsage } from "../../db/usage/usage.ts";
import type { JobState, OutputState } from "../state/job-state.ts";
import { roundMs } from "../state/used.ts";

/** The usage of a job that has ended, with all its rounds. */
export function usageOf(state: JobState, now: number): JobUsage {
  const { status, used } = state;
  const done = state.outputs.filter(({ phase }) => phase === "done");
  // ffprobe states a length of images, too.
  const lengths = done.flatMap((output) => (output.images === null ? lengthsOf(output) : []));
  const lengthOf = (tier: Tier): number =>
    lengths.reduce((sum, length) => sum + (length.tier === tier ? length.ms : 0), 0);
  return {
    completed: status === "job.completed" ? 1 : 0,
    failed: used.failed + (status === "job.failed" ? 1 : 0),
    aborted: used.aborted + (status === "job.aborted" ? 1 : 0),
    audioMs: lengthOf("audio"),
    sdMs: lengthOf("sd"),
    hdMs: lengthOf("hd"),
    uhdMs: lengthOf("uhd"),
    nodeMs: Math.round(used.nodeMs),
    storedBytes: done.reduce((sum, output) => sum + storedBytes(output), 0),
    lastedMs: Math.round(used.lastedMs + roundMs(state, now)),
  };
}

type Tier = "audio" | "sd" | "hd" | "uhd";
type Length = { readonly tier: Tier; readonly ms: number };

/** Length of an output's video, or of its audio if it has no video; for a stream, the length of each rendition. */
function lengthsOf({ probe, packages }: OutputState): Length[] {
  // DASH lists each track once, and has all of them; HLS lists audio with each variant.
  const listed = packages?.dash ?? packages?.hls ?? probe;
  if (!listed) return [];
  const video = listed.streams.filter(isMotionVideo);
  const tracks = video.length > 0 ? video : listed.streams.filter(({ codec_type }) => codec_type === "audio");
  return tracks.map((track) => ({ tier: tierOf(track), ms: lengthMs(track, listed) }));
}

/** Tier by the sides of the frame, whichever way it is turned; 1920×1080 is the largest frame of `hd`. */
function tierOf(track: ProbedStream): Tier {
  if (!isMotionVideo(track)) return "audio";
  const { width = 0, height = 0 } = track;
  const [long, short] = [Math.max(width, height), Math.min(width, height)];
  if (long < 1280 && short < 720) return "sd";
  return long <= 1920 && short <= 1080 ? "hd" : "uhd";
}

function lengthMs({ duration }: ProbedStream, { format }: MediaProbe): number {
  const seconds = [format.duration, duration].map(Number).find((value) => Number.isFinite(value) && value > 0);
  return Math.round(1000 * (seconds ?? 0));
}

/** Size of an output's files. The files of a stream are its playlists; its packages have the size of their segments. */
function storedBytes({ files, packages }: OutputState): number {
  const segments = [packages?.hls, packages?.dash].map((streamPackage) => Number(streamPackage?.format.size ?? 0));
  return [...files.map(({ sizeBytes }) => sizeBytes), ...segments].reduce((sum, bytes) => sum + (bytes || 0), 0);
}
