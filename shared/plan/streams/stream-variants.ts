// Which renditions a stream has of its source: the request's, without those that the source is too small for or has no
// tracks for.
import type { FrameSize, VideoFormat } from "../../format/format-spec.ts";
import type { HttpStreamOutput } from "../../job/output-spec.ts";
import type { EncodedAudio } from "../encoders/audio-encoders.ts";
import type { EncodedVideo } from "../encoders/video-encoders.ts";
import type { Size } from "../filters/fit-frame.ts";
import type { AudioTrack, SourceTracks, VideoTrack } from "../source/source-tracks.ts";

/** What one variant shows and sounds like; at least one of both. */
export type Variant = { readonly video: EncodedVideo | null; readonly audio: EncodedAudio | null };

/**
 * The variants of a stream, sound alone last; none when the source has neither track that they want.
 *
 * No picture is padded: players do that, and a ladder with bars on some of its rungs would jump. So a box is one that the
 * picture fits into. Of the default ladder, which is made for lying pictures, an upright source gets the upright likeness,
 * rungs above the source are left out, more than two channels become stereo, which 128k are enough for, and mono stays mono.
 */
export function variantsFor(spec: HttpStreamOutput, source: SourceTracks): Variant[] {
  const asked = spec.variants.map((format) => variantOf(format, source)).filter((variant) => isPackaged(variant, spec));
  const fitting = spec.dropsLargerVariants && source.video ? fitLadder(asked, source.video, source.audio) : asked;
  const variants = fitting.filter(({ video, audio }) => video !== null || audio !== null).map(withoutPadding(source));
  const distinct = unique(variants);
  return [...distinct.filter(({ video }) => video !== null), ...distinct.filter(({ video }) => video === null)];
}

/** Apple has HEVC in fragmented MP4 only (HLS authoring specification §1.5), and so have browsers. */
const isPackaged = ({ video }: Variant, spec: HttpStreamOutput): boolean =>
  hasFragments(spec) || video?.codec !== "hevc";

/** Whether a package of the stream has segments of fragmented MP4. */
export const hasFragments = ({ hls, dash }: Pick<HttpStreamOutput, "hls" | "dash">): boolean =>
  dash !== null || hls?.segments === "fmp4";

/** Whether a package of the stream has segments of MPEG-TS. */
export const hasMpegTs = ({ hls }: Pick<HttpStreamOutput, "hls">): boolean => hls?.segments === "mpegts";

function variantOf({ video, audio }: VideoFormat, source: SourceTracks): Variant {
  return {
    video:
      video && source.video && video.codec !== "copy"
        ? { ...video, codec: video.codec, twoPass: false, fps: video.fps ?? slowestFps(source.video) }
        : null,
    audio: audio && source.audio && audio.codec !== "copy" ? { ...audio, codec: audio.codec } : null,
  };
}

/** Pictures are repeated where there are fewer a second: hls.js hangs at a segment of MPEG-TS with but one frame. */
const SLOWEST_FPS = 2;

const slowestFps = ({ fps }: VideoTrack): string | null =>
  fps !== null && fps < SLOWEST_FPS ? String(SLOWEST_FPS) : null;

/** A rung may be larger than the source by so much: then it has the source's own size. */
const NEARLY = 1.05;

function fitLadder(ladder: readonly Variant[], track: VideoTrack, sound: AudioTrack | null): Variant[] {
  const source = sizeOf(track);
  const isUpright = source.height > source.width;
  const rungs = ladder.map(({ video, audio }) => ({
    video: video && { ...video, size: isUpright ? turned(video.size) : video.size },
    audio: audio && laddered(audio, sound?.channels === 1),
  }));
  const growth = ({ video }: Variant): number => (video ? contained(video.size, source).height / source.height : 0);
  const smallest = Math.min(...rungs.map(growth).filter((factor) => factor > 0));
  return rungs
    .filter((rung) => growth(rung) <= Math.max(NEARLY, smallest))
    .map((rung) =>
      growth(rung) > 1 && rung.video
        ? { ...rung, video: { ...rung.video, size: { width: null, height: null } } }
        : rung,
    );
}

/** Mono stays mono, with half of the bits: as stereo it would be the same twice. More channels become two. */
const laddered = (audio: EncodedAudio, isMono: boolean): EncodedAudio => ({
  ...audio,
  channels: audio.channels ?? (isMono ? "mono" : "stereo"),
  bitrateKbps: isMono && audio.bitrateKbps !== null ? audio.bitrateKbps / 2 : audio.bitrateKbps,
});

const withoutPadding =
  ({ video: track }: SourceTracks) =>
  ({ video, audio }: Variant): Variant => ({
    video: video && track ? { ...video, size: unpadded(video.size, sizeOf(track)) } : null,
    audio,
  });

const sizeOf = ({ facts }: VideoTrack): Size => ({ width: facts.displayWidth, height: facts.displayHeight });

const turned = ({ width, height }: FrameSize): FrameSize => ({ width: height, height: width });

/** The one side that a box leaves no room beside; the other follows. */
function unpadded({ width, height }: FrameSize, source: Size): FrameSize {
  if (width === null || height === null) return { width, height };
  return source.width * height >= source.height * width ? { width, height: null } : { width: null, height };
}

function contained(size: FrameSize, source: Size): Size {
  const { width, height } = unpadded(size, source);
  const factor = width !== null ? width / source.width : height !== null ? height / source.height : 1;
  return { width: source.width * factor, height: source.height * factor };
}

/** The same twice is of no use to a player: a source without sound makes `720p` and `720p:x` alike. */
function unique(variants: readonly Variant[]): Variant[] {
  const texts = variants.map((variant) => JSON.stringify(variant));
  return variants.filter((_, at) => texts.indexOf(texts[at] ?? "") === at);
}
