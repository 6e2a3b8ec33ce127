// The start and end of a stream, and the origin of this information.
import { type Undecodable, undecodable } from "../../media/choose-streams.ts";
import type { MediaProbe, ProbedStream } from "../../media/media-probe.ts";
import { mayRestart, microseconds } from "../../media/timeline-start.ts";

/** A chosen stream. Times are in ms on the source's timeline, where its earliest stream starts at 0. */
export type Track = {
  readonly streamIndex: number;
  /** By ffprobe's name; null if ffprobe does not know it. */
  readonly codec: string | null;
  /** Reason why it cannot be decoded; null if it can. */
  readonly undecodable: Undecodable | null;
  readonly startMs: number;
  /** Null if neither the stream nor the file states it. */
  readonly durationMs: number | null;
  readonly endMs: number | null;
  /** Start of the last packet; null if not all packets were read. */
  readonly lastStartMs: number | null;
  /** Time by which the track is earlier in a run that reads no other track. */
  readonly leadMs: number;
  /**
   * Time at which the track's timestamps fall back; null: never. ffmpeg leaves out the packets with earlier timestamps
   * that follow.
   */
  readonly fallsBackAtMs: number | null;
  /**
   * `packets`: the packets of the stream were read. `stream`: a header states the length of this stream. `file`: a
   * header states the length of the file, and another stream may be the longest. `estimate`: calculated from the file's
   * size and its first bitrate, and may be far off.
   */
  readonly lengthFrom: "packets" | "stream" | "file" | "estimate";
};

/** Formats with a single stream and no header with its length. */
const WITHOUT_LENGTH = new Set("mp3 aac ac3 eac3 amr h264 hevc m4v mpegvideo".split(" "));

/** The times of a stream. `originUs`: start of the source's timeline on the file's clock. */
export function trackOf(stream: ProbedStream, probe: MediaProbe, originUs: number): Track {
  const startMs = Math.max(0, Math.round(((microseconds(stream.start_time) ?? originUs) - originUs) / 1000));
  const { durationMs, lengthFrom } =
    measuredLength(stream, originUs, startMs) ?? statedLength(stream, probe, originUs, startMs);
  return {
    streamIndex: stream.index,
    codec: stream.codec_name ?? null,
    undecodable: undecodable(stream),
    startMs,
    durationMs,
    endMs: durationMs === null ? null : startMs + durationMs,
    lengthFrom,
    lastStartMs: lengthFrom === "packets" ? onTimeline(stream.packets?.last, originUs) : null,
    leadMs: mayRestart(probe) ? startMs : 0,
    fallsBackAtMs: onTimeline(stream.packets?.falls_back_at, originUs),
  };
}

const onTimeline = (seconds: number | undefined, originUs: number): number | null =>
  seconds === undefined ? null : Math.round(seconds * 1000 - originUs / 1000);

type Length = Pick<Track, "durationMs" | "lengthFrom">;

/**
 * Length according to the packets. Null if the file is truncated: the stated length then counts, so that outputs are
 * too short and fail.
 */
function measuredLength({ packets }: ProbedStream, originUs: number, startMs: number): Length | null {
  if (!packets || packets.ends_early) return null;
  const endMs = Math.round(packets.end * 1000 - originUs / 1000);
  return { durationMs: Math.max(0, endMs - startMs), lengthFrom: "packets" };
}

/** Length according to the headers. */
function statedLength(stream: ProbedStream, probe: MediaProbe, originUs: number, startMs: number): Length {
  const ownMs = ownLengthMs(stream);
  const fileUs = microseconds(probe.format.duration);
  const lateUs = originUs - (microseconds(probe.format.start_time) ?? 0);
  const fileMs = fileUs === null || fileUs <= 0 ? null : Math.max(0, Math.round((fileUs - lateUs) / 1000) - startMs);
  const durationMs = ownMs ?? fileMs;
  if (WITHOUT_LENGTH.has(probe.format.format_name ?? "")) return { durationMs, lengthFrom: "estimate" };
  // If a file is truncated, no stream reaches the stated end, and this stream does not reach it either.
  const isOwn = ownMs !== null || probe.streams.length === 1 || stream.packets?.ends_early === true;
  return { durationMs, lengthFrom: isOwn ? "stream" : "file" };
}

/**
 * Length that a header states for the stream itself, in ms; null if no header states it. For some streams of Matroska
 * ffprobe 7.0 returns the length of the file, in which a caption may end after the audio.
 */
export function ownLengthMs({ duration, start_time, tags }: ProbedStream): number | null {
  const ownUs = microseconds(duration);
  const taggedEndMs = clockMs(tags?.DURATION);
  const taggedUs = taggedEndMs === null ? null : taggedEndMs * 1000 - (microseconds(start_time) ?? 0);
  const lengthUs = Math.min(...[ownUs, taggedUs].flatMap((us) => us ?? []));
  return Number.isFinite(lengthUs) && lengthUs > 0 ? Math.round(lengthUs / 1000) : null;
}

/** Matroska keeps the end of a stream in a tag: `00:00:05.005000000`. */
function clockMs(text: string | undefined): number | null {
  const [, hours, minutes, seconds] = /^(\d+):(\d\d):(\d\d(?:\.\d+)?)$/.exec(text ?? "") ?? [];
  return seconds === undefined
    ? null
    : Math.round((Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000);
}
