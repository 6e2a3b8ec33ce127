// Chooses the renditions of a stream: all requested renditions if the source has the tracks and enough pixels.
import type { AudioTrackSpec, FrameSize, VideoFormat } from "../../format/format-spec.ts";
import { fitsMpegTs, notInMpegTs } from "../../format/stream-codecs.ts";
import type { HttpStreamOutput } from "../../job/output-spec.ts";
import type { EncodedVideo } from "../encoders/video-encode-options.ts";
import { shownSize } from "../filters/crop-source.ts";
import type { Size } from "../source/frame-size.ts";
import type { AudioTrack, SourceTracks, VideoTrack } from "../source/source-tracks.ts";

/** Tracks of a variant; at least one. `requested`: its index in the request. */
type Variant = {
  readonly video: EncodedVideo | null;
  readonly audio: AudioTrackSpec | null;
  readonly requested: number;
};

/** Tracks of a stream, each once, and the variants that consist of them. */
export type StreamVariants = {
  readonly videos: readonly EncodedVideo[];
  readonly audios: readonly AudioTrackSpec[];
  /** Indexes in `videos`, `audios` and the request. Variants without video come last. */
  readonly variants: readonly {
    readonly video: number | null;
    readonly audio: number | null;
    readonly requested: number;
    /** True if MPEG-TS segments hold its codecs. */
    readonly inMpegTs: boolean;
  }[];
};

/**
 * Variants of a stream; none if the source has no track that they need. No frame is padded: players do that, and a
 * ladder with bars on some of its rungs would change its shape. So a box means the size that fits into it, except with
 * a blurred backdrop.
 * The default ladder is made for landscape video. A portrait source gets its portrait equivalent. Rungs above the
 * source are left out. More than two channels become stereo, because 128k is enough for stereo. Mono stays mono.
 */
export function variantsFor(spec: HttpStreamOutput, source: SourceTracks): StreamVariants {
  const size = source.video && shownSize(spec.crop, source.video);
  const each = spec.variants.map((format, requested) => ({ ...variantOf(format, source), requested }));
  const requested = (spec.hls?.muxed ? each : inEachAudioCodec(each)).filter(
    (variant) => hasFragments(spec) || fitsMpegTs(codecsIn(variant, source)),
  );
  const fitting =
    spec.dropsLargerVariants && size ? fitLadder(requested, size, source.audio, spec.fit === "blur") : requested;
  const variants = fitting
    .filter(({ video, audio }) => video !== null || audio !== null)
    .map((variant) => (size && spec.fit !== "blur" ? withoutPadding(variant, size) : variant));
  const ordered = [
    ...variants.filter(({ video }) => video !== null),
    ...variants.filter(({ video }) => video === null),
  ];
  return withIndexes(ordered, (variant) => fitsMpegTs(codecsIn(variant, source)));
}

/**
 * Adds a variant with audio of each codec for every video, because players choose a variant by all its codecs. The
 * audio is the first with that codec.
 */
function inEachAudioCodec(variants: readonly Variant[]): Variant[] {
  const byCodec = new Map(variants.toReversed().flatMap(({ audio }) => (audio ? [[audio.codec, audio] as const] : [])));
  const all: Variant[] = [];
  for (const variant of variants) {
    const { video, audio } = variant;
    const has = (codec: string): boolean =>
      [...variants, ...all].some(
        (other) => other.audio?.codec === codec && other.video && isSameVideo(other.video, video),
      );
    const others = video && audio ? [...byCodec.values()].filter(({ codec }) => !has(codec)) : [];
    all.push(variant, ...others.map((other) => ({ ...variant, audio: other })));
  }
  return all;
}

/** The codecs of a variant. A copy has the codec of the source. */
const codecsIn = ({ video, audio }: Pick<Variant, "video" | "audio">, source: SourceTracks) => ({
  video,
  audio: audio?.codec === "copy" ? { codec: source.audio?.codec ?? audio.codec } : audio,
});

/** Codecs that a package of MPEG-TS segments leaves out; none if the stream has no such package. */
export const codecsLeftOut = (spec: HttpStreamOutput, source: SourceTracks): string[] =>
  hasMpegTs(spec)
    ? [...new Set(spec.variants.flatMap((format) => notInMpegTs(codecsIn(variantOf(format, source), source))))]
    : [];

/** True if a package of the stream has segments of fragmented MP4. */
export const hasFragments = ({ hls, dash }: Pick<HttpStreamOutput, "hls" | "dash">): boolean =>
  dash !== null || hls?.segments === "fmp4";

/** True if a package of the stream has segments of MPEG-TS. */
export const hasMpegTs = ({ hls }: Pick<HttpStreamOutput, "hls">): boolean => hls?.segments === "mpegts";

function variantOf({ video, audio }: VideoFormat, source: SourceTracks): Omit<Variant, "requested"> {
  return {
    video:
      video && source.video && video.codec !== "copy"
        ? { ...video, codec: video.codec, twoPass: false, fps: video.fps ?? slowestFps(source.video) }
        : null,
    audio: source.audio && audio,
  };
}

/** Slower video gets repeated frames, because hls.js hangs at a segment of MPEG-TS with a single frame. */
const SLOWEST_FPS = 2;

const slowestFps = ({ fps }: VideoTrack): string | null =>
  fps !== null && fps < SLOWEST_FPS ? String(SLOWEST_FPS) : null;

/** A rung may be this much larger than the source, and then gets the size of the source. */
const NEARLY = 1.05;

function fitLadder(
  ladder: readonly Variant[],
  source: Size,
  audioTrack: AudioTrack | null,
  keepsBoxes: boolean,
): Variant[] {
  const isPortrait = !keepsBoxes && source.height > source.width;
  const rungs = ladder.map(({ video, audio, requested }) => ({
    requested,
    video: video && { ...video, size: isPortrait ? rotated(video.size) : video.size },
    audio: audio && ladderAudio(audio, audioTrack?.channels === 1),
  }));
  const growth = ({ video }: Pick<Variant, "video">): number =>
    video ? contained(video.size, source).height / source.height : 0;
  const smallest = Math.min(...rungs.map(growth).filter((factor) => factor > 0));
  return rungs
    .filter((rung) => growth(rung) <= Math.max(NEARLY, smallest))
    .map((rung) =>
      growth(rung) > 1 && rung.video && !keepsBoxes
        ? { ...rung, video: { ...rung.video, size: { width: null, height: null } } }
        : rung,
    );
}

/** Mono stays mono, with half of the bits: stereo would have the same channel twice. More channels become two. */
const ladderAudio = (audio: AudioTrackSpec, isMono: boolean): AudioTrackSpec => ({
  ...audio,
  channels: audio.channels ?? (isMono ? "mono" : "stereo"),
  bitrateKbps: isMono && audio.bitrateKbps !== null ? audio.bitrateKbps / 2 : audio.bitrateKbps,
});

const withoutPadding = ({ video, ...variant }: Variant, source: Size): Variant => ({
  ...variant,
  video: video && { ...video, size: unpadded(video.size, source) },
});

const rotated = ({ width, height }: FrameSize): FrameSize => ({ width: height, height: width });

/** The side of a box that the source fills; the other side follows. */
function unpadded({ width, height }: FrameSize, source: Size): FrameSize {
  if (width === null || height === null) return { width, height };
  return source.width * height >= source.height * width ? { width, height: null } : { width: null, height };
}

function contained(size: FrameSize, source: Size): Size {
  const { width, height } = unpadded(size, source);
  const factor = width !== null ? width / source.width : height !== null ? height / source.height : 1;
  return { width: source.width * factor, height: source.height * factor };
}

/**
 * Merges equal tracks, and then equal variants. Equal variants are of no use to a player: with a source without audio,
 * `720p` and `720p:x` are the same.
 */
function withIndexes(variants: readonly Variant[], inMpegTs: (variant: Variant) => boolean): StreamVariants {
  const videos: EncodedVideo[] = [];
  const audios: AudioTrackSpec[] = [];
  const indexed = variants.map(({ video, audio, requested }) => ({
    requested,
    inMpegTs: inMpegTs({ video, audio, requested }),
    video: video && indexIn(videos, video, isSameVideo),
    audio: audio && indexIn(audios, audio, isSameAudio),
  }));
  const first = (variant: (typeof indexed)[number]): number =>
    indexed.findIndex(({ video, audio }) => video === variant.video && audio === variant.audio);
  return { videos, audios, variants: indexed.filter((variant, at) => first(variant) === at) };
}

/** Index of an equal item. Adds the item if there is none. */
function indexIn<Item>(items: Item[], item: Item, isSame: (a: Item, b: Item) => boolean): number {
  const at = items.findIndex((other) => isSame(other, item));
  return at === -1 ? items.push(item) - 1 : at;
}

const isSameVideo = ({ size, rate, ...a }: EncodedVideo, b: EncodedVideo | null): boolean =>
  b !== null &&
  size.width === b.size.width &&
  size.height === b.size.height &&
  haveSameValues(rate, b.rate) &&
  haveSameValues(a, b);

const isSameAudio = (a: AudioTrackSpec, b: AudioTrackSpec): boolean => haveSameValues(a, b);

/** True if `b` has all values of `a`. Compares by identity, so members that are objects must not be in `a`. */
const haveSameValues = <Item extends object>(a: Item, b: Item): boolean =>
  (Object.keys(a) as (keyof Item)[]).every((key) => a[key] === b[key]);
