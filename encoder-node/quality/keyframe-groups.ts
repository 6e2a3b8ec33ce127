// The size in bytes of each keyframe group of a source's video, which shows how complex its scenes are. Nothing is
// decoded.
import { messageOf } from "#shared/log.ts";
import type { KeyframeGroup } from "#shared/plan/vmaf/sample-windows.ts";
import type { Tool } from "../ffmpeg/discover/locate.ts";
import { listPackets } from "../source/frame-index/run-packet-listing.ts";
import type { TaskSource } from "../workspace/task-source.ts";
import type { MeasureDeps } from "./measure.ts";

/** A keyframe that follows this soon does not start its own group: each frame may be a keyframe. */
const LEAST_MS = 500;

/**
 * The groups of the video of a file on this node's disk, in the order of time. Empty if its packets cannot be listed.
 * Takes about a hundredth of the time of an encode. Throws only when the signal aborts.
 */
export async function readKeyframeGroups(
  { source: path, probe, tracks: { video } }: Pick<TaskSource, "source" | "probe" | "tracks">,
  { ffprobe, log, signal }: { readonly ffprobe: Tool } & Pick<MeasureDeps, "log" | "signal">,
): Promise<KeyframeGroup[]> {
  if (!video) return [];
  // Seek positions are relative to this time.
  const startSeconds = Number(probe.format.start_time ?? 0);
  const groups: { fromMs: number; bytes: number }[] = [];
  const listing = { ffprobe, source: { path }, argv: ["-select_streams", String(video.streamIndex)] };
  const isClean = await listPackets(listing, signal, ({ pts, dts, bytes, flags }) => {
    const seconds = pts ?? dts;
    const fromMs = flags.startsWith("K") && seconds !== null ? (seconds - startSeconds) * 1000 : null;
    const last = groups.at(-1);
    if (fromMs !== null && !(last && Math.abs(fromMs - last.fromMs) < LEAST_MS)) groups.push({ fromMs, bytes });
    else if (last) last.bytes += bytes;
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    log.warn("packets not listed", { error: messageOf(error) });
    return false;
  });
  const areInOrder = groups.every(({ fromMs }, at) => fromMs > (groups[at - 1]?.fromMs ?? Number.NEGATIVE_INFINITY));
  return isClean && areInOrder ? groups : [];
}
