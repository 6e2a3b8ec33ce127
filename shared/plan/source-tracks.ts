// Which streams of a source are encoded, and when each ends.
import {
  fraction,
  isMovingPicture,
  type MediaProbe,
  type ProbedStream,
  sourceFacts,
  type VideoFacts,
} from "../media-probe.ts";
import { type SourceColour, sourceColour } from "./source-colour.ts";

/** A stream that was chosen; times in ms on the source's own line, where its earliest stream starts at 0. */
export type Track = {
  readonly streamIndex: number;
  /** By ffprobe's name; null when ffprobe does not know it. */
  readonly codec: string | null;
  readonly startMs: number;
  /** Null when neither the stream nor the file says. */
  readonly durationMs: number | null;
  readonly endMs: number | null;
  /**
   * `stream`: the length is its own. `file`: it is the file's, which another stream may have set. `estimate`: it was
   * worked out from the file's size and its first bitrate, and may be far off.
   */
  readonly lengthFrom: "stream" | "file" | "estimate";
};

export type VideoTrack = Track & {
  readonly facts: VideoFacts;
  readonly colour: SourceColour;
  /** Mean frames per second; null when unknown or not to be believed. */
  readonly fps: number | null;
  readonly constantRate: boolean;
  /** Whether its frames are made of two fields each, by what the stream says. */
  readonly interlaced: boolean;
  /** Frames in the stream; null when nobody counted them. */
  readonly frames: number | null;
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

/** The video stream that `sourceFacts` speaks of, and the audio stream marked as default, else the first. */
export function chooseTracks(probe: MediaProbe): SourceTracks {
  const { video: facts } = sourceFacts(probe);
  const track = (stream: ProbedStream): Track => trackOf(stream, probe);
  const picture = probe.streams.find(isMovingPicture);
  const sound = chooseAudio(probe.streams);
  return {
    video:
      picture && facts
        ? {
            ...track(picture),
            ...rateOf(picture, facts),
            facts,
            colour: sourceColour(picture),
            interlaced: INTERLACED.has(picture.field_order ?? ""),
            frames: frameCount(picture),
          }
        : null,
    audio: sound ? { ...track(sound), ...soundOf(sound) } : null,
    format: probe.format.format_name ?? "",
  };
}

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

/** A stream without a codec name cannot be decoded (ffprobe leaves the name out): any other is better. */
function chooseAudio(streams: readonly ProbedStream[]): ProbedStream | undefined {
  const audio = streams.filter((stream) => stream.codec_type === "audio");
  const known = audio.filter((stream) => stream.codec_name !== undefined);
  return known.find((stream) => stream.disposition?.default === 1) ?? known[0] ?? audio[0];
}

function trackOf(stream: ProbedStream, probe: MediaProbe): Track {
  const originMs = milliseconds(probe.format.start_time) ?? 0;
  const fileMs = sourceFacts(probe).durationMs;
  const startMs = Math.max(0, (milliseconds(stream.start_time) ?? originMs) - originMs);
  const taggedEndMs = clockMs(stream.tags?.DURATION);
  const ownMs = milliseconds(stream.duration) ?? (taggedEndMs === null ? null : taggedEndMs - originMs - startMs);
  const hasOwn = ownMs !== null && ownMs > 0;
  const durationMs = hasOwn ? ownMs : fileMs === null ? null : Math.max(0, fileMs - startMs);
  const lengthFrom = hasOwn || probe.streams.length === 1 ? "stream" : "file";
  return {
    streamIndex: stream.index,
    codec: stream.codec_name ?? null,
    startMs,
    durationMs,
    endMs: durationMs === null ? null : startMs + durationMs,
    lengthFrom: WITHOUT_LENGTH.has(probe.format.format_name ?? "") ? "estimate" : lengthFrom,
  };
}

function frameCount(stream: ProbedStream): number | null {
  const count = Number(stream.nb_frames ?? stream.nb_read_packets);
  return Number.isInteger(count) && count > 0 ? count : null;
}

function milliseconds(seconds: unknown): number | null {
  const value = typeof seconds === "string" ? Number(seconds) * 1000 : Number.NaN;
  return Number.isFinite(value) ? Math.round(value) : null;
}

/** Matroska keeps a stream's end in a tag: `00:00:05.005000000`. */
function clockMs(text: string | undefined): number | null {
  const [, hours, minutes, seconds] = /^(\d+):(\d\d):(\d\d(?:\.\d+)?)$/.exec(text ?? "") ?? [];
  return seconds === undefined
    ? null
    : Math.round((Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000);
}
