// Checks that each track of a file that ffmpeg made is as long as planned.
import type { MediaProbe, ProbedStream } from "#shared/media/media-probe.ts";
import { type PlannedTrack, toleranceMs } from "#shared/plan/source/output-length.ts";
import { ownLengthMs } from "#shared/plan/source/track-length.ts";
import { packetEndsMs } from "../../source/probe/probe-end.ts";
import type { TaskDeps } from "../../task/task-deps.ts";
import { checkEnd, isLongEnough } from "../../upload/made-file.ts";

/**
 * Demuxers, by ffprobe's names, whose files state the length of each track. Others estimate it, or state one length.
 */
const STATE_LENGTHS: ReadonlySet<string> = new Set(["mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm", "wav", "flac"]);

/** How much before the planned end packets are read, at first. */
const LOOK_BACK_MS = 10_000;

/** ffmpeg's MPEG-TS files begin at twice its `max_delay` (mpegtsenc.c), of 0.7 s. */
const TS_START_MS = 1400;

export type MadeTracks = { readonly path: string; readonly probe: MediaProbe };

/**
 * Throws AppError `encoding_failed` when a track ends before its planned end. The end counts, not the duration: a track
 * may start late, as it did in the source.
 */
export async function checkTrackEnds(
  planned: readonly PlannedTrack[],
  { path, probe }: MadeTracks,
  { ffprobe, signal }: Pick<TaskDeps, "ffprobe" | "signal">,
): Promise<void> {
  const doubtful = planned.filter((track) => !isLongEnough(track, statedEndMs(streamOf(track, probe), probe)));
  if (doubtful.length === 0) return;
  const originMs = probe.format.format_name === "mpegts" ? TS_START_MS : 0;
  const least = Math.min(...doubtful.map(({ endMs }) => (endMs ?? 0) - toleranceMs(endMs ?? 0)));
  const isLong = least > 2 * LOOK_BACK_MS;
  const tail = await packetEndsMs(ffprobe, path, isLong ? { fromMs: originMs + least - LOOK_BACK_MS } : {}, signal);
  const isComplete = !isLong || doubtful.every((track) => tail.has(streamOf(track, probe)?.index ?? -1));
  const ends = isComplete ? tail : await packetEndsMs(ffprobe, path, {}, signal);
  for (const track of doubtful) checkEnd(track, (ends.get(streamOf(track, probe)?.index ?? -1) ?? 0) - originMs);
}

const streamOf = ({ kind }: PlannedTrack, { streams }: MediaProbe): ProbedStream | undefined =>
  streams.find(({ codec_type }) => codec_type === kind);

/** The end of a stream according to its own header, in ms; 0 if the file does not state it. */
function statedEndMs(stream: ProbedStream | undefined, { format }: MediaProbe): number {
  if (!stream || !STATE_LENGTHS.has(format.format_name ?? "")) return 0;
  return Number(stream.start_time ?? 0) * 1000 + (ownLengthMs(stream) ?? 0);
}
