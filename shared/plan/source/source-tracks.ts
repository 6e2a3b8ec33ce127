// Which streams of a source are encoded, and when each ends.
import { chosenAudio, chosenVideo, type Undecodable, undecodable } from "../../media/choose-streams.ts";
import { fraction, type MediaProbe, type ProbedStream, sourceFacts, type VideoFacts } from "../../media/media-probe.ts";
import { microseconds, timelineStartUs } from "../../media/timeline-start.ts";
import type { LastFrame } from "../filters/last-frame.ts";
import { alphaDecoder, type SourceColor, sourceColor } from "./source-color.ts";

/** A stream that was chosen; times in ms on the source's own line, where its earliest stream starts at 0. */
export type Track = {
  readonly streamIndex: number;
  /** By ffprobe's name; null when ffprobe does not know it. */
  readonly codec: string | null;
  /** Why it cannot be decoded; null when it can. */
  readonly undecodable: Undecodable | null;
  readonly startMs: number;
  /** Null when neither the stream nor the file says. */
  readonly durationMs: number | null;
  readonly endMs: number | null;
  /**
   * `packets`: the packets were read, and it is theirs. `stream`: a header says it of this stream. `file`: it is the file's, which another stream may have set. `estimate`: it was
   * worked out from the file's size and its first bitrate, and may be far off.
   */
  readonly lengthFrom: "packets" | "stream" | "file" | "estimate";
};

export type VideoTrack = Track & {
  readonly facts: VideoFacts;
  readonly color: SourceColor;
  /** By ffmpeg's name; null: the one that ffmpeg takes by itself. */
  readonly decoder: string | null;
  /** Mean frames per second; null when unknown or not to be believed. */
  readonly fps: number | null;
  readonly constantRate: boolean;
  /** Whether its frames are made of two fields each, by what the stream says. */
  readonly interlaced: boolean;
  /** Frames in the stream; null when nobody counted them. */
  readonly frames: number | null;
  /**
   * Whether frames are decoded that end where the timeline begins, as an edit list without a keyframe before it leaves them.
   * ffmpeg would show the last of them first.
   */
  readonly startsWithOldFrames: boolean;
  /** Null where the rate is constant, or nobody knows. */
  readonly lastFrame: LastFrame | null;
};

export type AudioTrack = Track & {
  readonly channels: number | null;
  /** By ffmpeg's name, such as `5.1(side)`; undefined when the stream does not say. */
  readonly layout: string | undefined;
  readonly sampleRateHz: number | null;
};

export type SourceTracks = {
  readonly video: VideoTrack | null;
  readonly audio: AudioTrack | null;
  /** The names of the demuxer, as ffprobe has them (`mov,mp4,m4a,3gp,3g2,mj2`). */
  readonly format: string;
};

/** Formats of one stream without a header that says how long it is. */
const WITHOUT_LENGTH = new Set("mp3 aac ac3 eac3 amr h264 hevc m4v mpegvideo".split(" "));

/**
 * Rates above this are time bases, not frame rates: a recording by a browser (live webm without a default duration) is
 * probed as 1000 fps.
 */
const MAX_CREDIBLE_FPS = 240;

/** ffprobe's words for the order of fields. */
const INTERLACED: ReadonlySet<string> = new Set(["tt", "bb", "tb", "bt"]);

/** The streams that `sourceFacts` speaks of. */
export function chooseTracks(probe: MediaProbe): SourceTracks {
  const { video: facts } = sourceFacts(probe);
  const picture = chosenVideo(probe.streams);
  const sound = chosenAudio(probe.streams);
  const used = [picture, sound].filter((stream) => stream !== undefined);
  const originUs = timelineStartUs(probe, used);
  const track = (stream: ProbedStream): Track => trackOf(stream, probe, originUs);
  return {
    video: picture && facts ? videoTrack(picture, facts, track(picture), probe, originUs) : null,
    audio: sound ? { ...track(sound), ...soundOf(sound) } : null,
    format: probe.format.format_name ?? "",
  };
}

function videoTrack(
  picture: ProbedStream,
  facts: VideoFacts,
  track: Track,
  probe: MediaProbe,
  originUs: number,
): VideoTrack {
  const rate = rateOf(picture, facts);
  const lastFrame = rate.constantRate ? null : lastFrameOf(picture, track, probe, originUs);
  const endMs = lastFrame ? Math.round(lastFrame.endMs) : track.endMs;
  return {
    ...{ ...track, endMs, durationMs: endMs === null ? null : endMs - track.startMs, ...rate, facts, lastFrame },
    color: sourceColor(picture),
    decoder: alphaDecoder(picture),
    interlaced: INTERLACED.has(picture.field_order ?? ""),
    frames: frameCount(picture),
    startsWithOldFrames: startsWithOldFrames(picture, originUs),
  };
}

/** In Matroska the length of the track alone may say how long its last frame is shown: packets need no length of their own. */
function lastFrameOf(
  { packets, ...stream }: ProbedStream,
  track: Track,
  probe: MediaProbe,
  originUs: number,
): LastFrame | null {
  if (!packets || track.lengthFrom !== "packets") return null;
  const saidMs = probe.format.format_name === MATROSKA ? ownLengthMs(stream) : null;
  const endMs = Math.max(packets.end * 1000 - originUs / 1000, track.startMs + (saidMs ?? 0));
  return { startMs: packets.last * 1000 - originUs / 1000, endMs };
}

const MATROSKA = "matroska,webm";

const soundOf = ({ channels, channel_layout, sample_rate }: ProbedStream) => ({
  channels: channels ?? null,
  layout: channel_layout,
  sampleRateHz: fraction(sample_rate),
});

function rateOf(stream: ProbedStream, facts: VideoFacts): { fps: number | null; constantRate: boolean } {
  const fps = facts.fps !== null && facts.fps <= MAX_CREDIBLE_FPS ? facts.fps : null;
  return {
    fps,
    constantRate: fps !== null && facts.constantFrameRate && isUsualRate(fraction(stream.r_frame_rate) ?? fps),
  };
}

/**
 * Whole frames per second, or those of NTSC (n·1000/1001). Matroska's one declared duration of a frame may be the mean of
 * frames that vary: then both rates of ffprobe agree and are neither.
 */
function isUsualRate(fps: number): boolean {
  return [fps, fps * 1.001].some((rate) => Math.abs(rate - Math.round(rate)) <= rate * 0.0002);
}

function trackOf(stream: ProbedStream, probe: MediaProbe, originUs: number): Track {
  const startMs = Math.max(0, Math.round(((microseconds(stream.start_time) ?? originUs) - originUs) / 1000));
  const { packets } = stream;
  // What is missing of a file counts as promised: outputs of it are too short then, and say so.
  const { durationMs, lengthFrom } =
    packets && !packets.cut_short
      ? {
          durationMs: Math.max(0, Math.round(packets.end * 1000 - originUs / 1000) - startMs),
          lengthFrom: "packets" as const,
        }
      : promisedLength(stream, probe, originUs, startMs);
  return {
    ...{ streamIndex: stream.index, codec: stream.codec_name ?? null, undecodable: undecodable(stream) },
    ...{ startMs, durationMs, lengthFrom },
    endMs: durationMs === null ? null : startMs + durationMs,
  };
}

/** What the headers say. */
function promisedLength(
  stream: ProbedStream,
  probe: MediaProbe,
  originUs: number,
  startMs: number,
): Pick<Track, "durationMs" | "lengthFrom"> {
  const ownMs = ownLengthMs(stream);
  const fileUs = microseconds(probe.format.duration);
  const lateUs = originUs - (microseconds(probe.format.start_time) ?? 0);
  const fileMs = fileUs === null || fileUs <= 0 ? null : Math.max(0, Math.round((fileUs - lateUs) / 1000) - startMs);
  const durationMs = ownMs ?? fileMs;
  if (WITHOUT_LENGTH.has(probe.format.format_name ?? "")) return { durationMs, lengthFrom: "estimate" };
  // Where nothing of the file reaches its promised end, that is what this stream lacks too.
  const isOwn = ownMs !== null || probe.streams.length === 1 || stream.packets?.cut_short === true;
  return { durationMs, lengthFrom: isOwn ? "stream" : "file" };
}

/** How long a header says the stream itself is, in ms; null when none does. */
export function ownLengthMs({ duration, start_time, tags }: ProbedStream): number | null {
  const ownUs = microseconds(duration);
  const taggedEndMs = clockMs(tags?.DURATION);
  const taggedUs = taggedEndMs === null ? null : taggedEndMs * 1000 - (microseconds(start_time) ?? 0);
  const lengthUs = ownUs ?? taggedUs;
  return lengthUs !== null && lengthUs > 0 ? Math.round(lengthUs / 1000) : null;
}

/** What begins within this of another time begins with it: times of containers are rounded to milliseconds. In µs. */
const SAME_TIME_US = 1000;

function startsWithOldFrames({ packets }: ProbedStream, originUs: number): boolean {
  if (!packets) return false;
  return packets.first * 1e6 < originUs - SAME_TIME_US && packets.from * 1e6 < originUs + SAME_TIME_US;
}

function frameCount(stream: ProbedStream): number | null {
  const count = Number(stream.nb_frames ?? stream.nb_read_packets);
  return Number.isInteger(count) && count > 0 ? count : null;
}

/** Matroska keeps a stream's end in a tag: `00:00:05.005000000`. */
function clockMs(text: string | undefined): number | null {
  const [, hours, minutes, seconds] = /^(\d+):(\d\d):(\d\d(?:\.\d+)?)$/.exec(text ?? "") ?? [];
  return seconds === undefined
    ? null
    : Math.round((Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000);
}
