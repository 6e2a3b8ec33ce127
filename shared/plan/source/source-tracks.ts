// The streams of a source that are encoded, with their properties for planners.
import type { AudioRole } from "../../job/audio-tracks.ts";
import { TIMECODE } from "../../job/overlays.ts";
import { hasCaptions } from "../../media/captions.ts";
import { type Chapter, chaptersBetween } from "../../media/chapters.ts";
import { chosenAudio, chosenVideo, preference } from "../../media/choose-streams.ts";
import { languageTag, UNDETERMINED } from "../../media/languages.ts";
import { fraction, type MediaProbe, type ProbedStream } from "../../media/media-probe.ts";
import { sourceFacts, type VideoFacts } from "../../media/source-facts.ts";
import { timelineStartUs } from "../../media/timeline-start.ts";
import type { NamedInput } from "../command/planned-run.ts";
import { alphaDecoder, type SourceColor, sourceColor } from "./source-color.ts";
import { ownLengthMs, type Track, trackOf } from "./track-length.ts";

export type TrackKind = "video" | "audio";

/** Start and end of the last frame, in ms on the source's timeline. */
export type LastFrame = { readonly startMs: number; readonly endMs: number };

export type VideoTrack = Track & {
  readonly facts: VideoFacts;
  readonly color: SourceColor;
  /**
   * True if the stream states the color matrix 3, which is reserved (ITU-T H.273 table 4). Filters of ffmpeg 7 reject
   * such frames.
   */
  readonly hasReservedMatrix: boolean;
  /** By ffmpeg's name; null: ffmpeg chooses the decoder. */
  readonly decoder: string | null;
  /** Mean frames per second; null if unknown or not credible. */
  readonly fps: number | null;
  readonly constantRate: boolean;
  /** True if most frames are shown far longer than the shortest, as in recordings of a screen. */
  readonly isSparse: boolean;
  /** Rate of the frames that are not shown for longer. */
  readonly usualFps: number;
  /** True if the stream has a single frame. */
  readonly isStill: boolean;
  /** Duration for which a still frame is repeated, in ms; left out: it is not repeated. */
  readonly heldMs?: number;
  /** True if the stream states that each frame consists of two fields. */
  readonly interlaced: boolean;
  /** True if frames contain closed captions, as far as the node has read. */
  readonly hasCaptions: boolean;
  /** True if the stream states that frames are displayed in another order than they are decoded. */
  readonly reorders: boolean;
  /** Number of frames in the stream; null if unknown. */
  readonly frames: number | null;
  /**
   * True if the decoder also returns frames that end where the timeline starts, because an edit list starts between
   * keyframes. ffmpeg would show the last of them first.
   */
  readonly startsWithOldFrames: boolean;
  /** The timecode of the first frame; null if the source states none. */
  readonly timecode: string | null;
  /** Null if the rate is constant, or the time is unknown. */
  readonly lastFrame: LastFrame | null;
};

export type AudioTrack = Track & {
  readonly channels: number | null;
  /** By ffmpeg's name, such as `5.1(side)`; undefined if the stream states no layout. */
  readonly layout: string | undefined;
  readonly sampleRateHz: number | null;
  /** BCP 47 tag; `und` if the source states none. */
  readonly language: string;
  readonly title: string | null;
  readonly role: AudioRole;
  /** Scores among tracks of its language (`bestInLanguage`). */
  readonly preference: readonly number[];
  /** Filters before all others: a matrix of channels, an offset. Left out: none. */
  readonly prepared?: readonly string[];
  /** Tracks whose channels follow each other in this track. */
  readonly merged?: readonly AudioTrack[];
  /** The file that has the track; left out: the source. */
  readonly file?: NamedInput;
};

/** Another file that outputs read. `path`: on this node. */
export type AudioFile = { readonly url: string; readonly path: string; readonly probe: MediaProbe };

export type SourceTracks = {
  readonly video: VideoTrack | null;
  readonly audio: AudioTrack | null;
  /** All audio tracks, in the order of the source. */
  readonly audios: readonly AudioTrack[];
  /** Audio of other files, by URL. */
  readonly files: ReadonlyMap<string, AudioTrack | null>;
  /** In ms on the source's timeline. */
  readonly chapters: readonly Chapter[];
  /** True if the file is a multiplex of several programs. */
  readonly hasPrograms: boolean;
  /** ffprobe's names of the demuxer (`mov,mp4,m4a,3gp,3g2,mj2`). */
  readonly format: string;
  /** True if the clock of the file restarts or jumps, so that a seek may end anywhere. */
  readonly restarts: boolean;
};

/**
 * Rates above this are time bases rather than frame rates. ffprobe reports 1000 fps for a recording by a browser (live
 * WebM without a default duration).
 */
const MAX_CREDIBLE_FPS = 240;

/** ffprobe's names for field orders. */
const INTERLACED: ReadonlySet<string> = new Set(["tt", "bb", "tb", "bt"]);

const MATROSKA = "matroska,webm";

/** Streams that `sourceFacts` describes, all audio of the source, and the audio of other files. */
export function chooseTracks(probe: MediaProbe, files: readonly AudioFile[] = []): SourceTracks {
  const { video: facts } = sourceFacts(probe);
  const video = chosenVideo(probe.streams);
  const audio = chosenAudio(probe.streams);
  const used = usedStreams(probe);
  const originUs = timelineStartUs(probe, used);
  return {
    video: video && facts ? videoTrack(video, facts, probe, originUs) : null,
    audio: audio ? audioTrack(audio, probe, originUs) : null,
    audios: probe.streams.filter(isAudio).map((stream) => audioTrack(stream, probe, originUs)),
    files: new Map(files.map((file, at) => [file.url, fileTrack(file, at + 1)])),
    chapters: chaptersBetween(probe.chapters ?? [], originUs / 1000, null),
    hasPrograms: probe.streams.some(({ programs }) => programs !== undefined),
    format: probe.format.format_name ?? "",
    restarts: used.some(({ packets }) => packets?.restarts === true),
  };
}

/** Streams that runs read. They define the timeline. */
export const usedStreams = ({ streams }: Pick<MediaProbe, "streams">): ProbedStream[] =>
  [chosenVideo(streams), chosenAudio(streams)].flatMap((stream) => (stream && !stream.empty ? [stream] : []));

function videoTrack(stream: ProbedStream, facts: VideoFacts, probe: MediaProbe, originUs: number): VideoTrack {
  const track = trackOf(stream, probe, originUs);
  const rate = rateOf(stream, facts);
  const lastFrame = rate.constantRate ? null : lastFrameOf(stream, track, probe, originUs);
  const endMs = lastFrame ? Math.round(lastFrame.endMs) : track.endMs;
  return {
    ...track,
    ...rate,
    endMs,
    durationMs: endMs === null ? null : endMs - track.startMs,
    facts,
    lastFrame,
    color: sourceColor(stream),
    hasReservedMatrix: stream.color_space === "reserved",
    decoder: alphaDecoder(stream),
    interlaced: INTERLACED.has(stream.field_order ?? ""),
    hasCaptions: hasCaptions(stream),
    isStill: frameCount(stream) === 1,
    reorders: (stream.has_b_frames ?? 0) > 0,
    frames: stream.packets?.count ?? frameCount(stream),
    startsWithOldFrames: startsWithOldFrames(stream, originUs),
    timecode: [stream.tags?.timecode, probe.format.tags?.timecode].find((text) => TIMECODE.test(text ?? "")) ?? null,
  };
}

const isAudio = ({ codec_type }: ProbedStream): boolean => codec_type === "audio";

const audioTrack = (stream: ProbedStream, probe: MediaProbe, originUs: number): AudioTrack => ({
  ...trackOf(stream, probe, originUs),
  channels: stream.channels ?? null,
  layout: stream.channel_layout,
  sampleRateHz: fraction(stream.sample_rate),
  language: languageTag(stream.tags?.language),
  title: stream.tags?.title ?? null,
  role: roleOf(stream.disposition ?? {}),
  preference: preference(stream),
});

/** Roles of a track by its dispositions, by ffmpeg's names. */
const ROLES: readonly (readonly [disposition: string, role: AudioRole])[] = [
  ["visual_impaired", "description"],
  ["descriptions", "description"],
  ["comment", "commentary"],
  ["hearing_impaired", "clear"],
  ["clean_effects", "clear"],
  ["dub", "dub"],
];

const roleOf = (dispositions: NonNullable<ProbedStream["disposition"]>): AudioRole =>
  ROLES.find(([disposition]) => dispositions[disposition] === 1)?.[1] ?? "main";

/** The audio of another file. Its timeline starts with the file, and its language is not used. */
function fileTrack({ path, probe }: AudioFile, number: number): AudioTrack | null {
  const startUs = timelineStartUs(probe, usedStreams(probe));
  const stream = chosenAudio(probe.streams);
  const file = { name: `audio-${number}`, path, startUs };
  return stream ? { ...audioTrack(stream, probe, startUs), language: UNDETERMINED, title: null, file } : null;
}

/** In Matroska, only the track's length may show the duration of the last frame, because packets need no duration. */
function lastFrameOf(
  { packets, ...stream }: ProbedStream,
  track: Track,
  probe: MediaProbe,
  originUs: number,
): LastFrame | null {
  if (!packets || track.lengthFrom !== "packets") return null;
  const statedMs = probe.format.format_name === MATROSKA ? ownLengthMs(stream) : null;
  const endMs = Math.max(packets.end * 1000 - originUs / 1000, track.startMs + (statedMs ?? 0));
  return { startMs: packets.last * 1000 - originUs / 1000, endMs };
}

/** Largest mean rate of a sparse video, as a share of the usual rate. */
const SPARSE_SHARE = 1 / 4;
/** Usual rate if the stream states only a time base. */
const ASSUMED_FPS = 20;

function rateOf(
  stream: ProbedStream,
  facts: VideoFacts,
): Pick<VideoTrack, "fps" | "constantRate" | "isSparse" | "usualFps"> {
  const fps = facts.fps !== null && facts.fps <= MAX_CREDIBLE_FPS ? facts.fps : null;
  const base = fraction(stream.r_frame_rate);
  const constantRate = fps !== null && facts.constantFrameRate && isUsualRate(base ?? fps);
  const usual = base !== null && base <= MAX_CREDIBLE_FPS ? base : ASSUMED_FPS;
  const isSparse = !constantRate && fps !== null && fps <= usual * SPARSE_SHARE;
  return { fps, constantRate, isSparse, usualFps: usual };
}

/**
 * True for a whole number of frames per second, or a rate of NTSC (n·1000/1001). Matroska's default duration may be the
 * mean of frames that vary. Both rates of ffprobe are then the same, but neither is usual.
 */
function isUsualRate(fps: number): boolean {
  return [fps, fps * 1.001].some((rate) => Math.abs(rate - Math.round(rate)) <= rate * 0.0002);
}

/** Times that differ by less than this are the same, because containers round times to milliseconds. In µs. */
const SAME_TIME_US = 1000;

function startsWithOldFrames({ packets }: ProbedStream, originUs: number): boolean {
  if (!packets) return false;
  return packets.first * 1e6 < originUs - SAME_TIME_US && packets.from * 1e6 < originUs + SAME_TIME_US;
}

function frameCount(stream: ProbedStream): number | null {
  const count = Number(stream.nb_frames ?? stream.nb_read_packets);
  return Number.isInteger(count) && count > 0 ? count : null;
}
