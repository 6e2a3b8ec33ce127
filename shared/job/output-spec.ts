// Specification of an output after parsing: complete, with defaults, and with units in the names.
import * as z from "zod";
import { ImageFormat, TextFormat, VideoFormat } from "../format/format-spec.ts";
import { frameParameters, imageParameters, streamParameters, videoParameters } from "../parameters/plain-parameters.ts";
import { RequestedAudio } from "./audio-tracks.ts";
import { type BurnBitmaps, BurnSpec } from "./burn.ts";
import { Clip } from "./clip.ts";
import { DroppedVideo } from "./dropped-video.ts";
import { LoudnessSpec } from "./loudness.ts";
import { OverlaySpec } from "./overlays.ts";
import { SubtitleSpec, Subtitles } from "./subtitles.ts";

const outputBase = {
  /** Position in the request, from 0: identifies the output in its job. */
  index: z.int(),
  key: z.string(),
  /** A second key of the output in requests: `<format>:1` for a single object without a `key`. */
  alias: z.string().exactOptional(),
  /** The format in responses: as in the request, or in canonical form if the request has a hash. */
  format: z.string(),
  /** The output is created only if this condition (`if`) is true for the input; null: always. */
  condition: z.string().nullable(),
  /** The part of the source to which the times of the output refer; absent: the whole source. */
  clip: Clip.exactOptional(),
};

export const WATERMARK_POSITIONS = ["topleft", "topright", "bottomleft", "bottomright"] as const;
const Watermark = z.object({ url: z.string(), position: z.enum(WATERMARK_POSITIONS) });
export type Watermark = z.infer<typeof Watermark>;

/** Captions to draw into the frames. */
const burn = BurnSpec.exactOptional();
/** Drawn above captions and watermark, in this order. */
const overlays = z.array(OverlaySpec).exactOptional();

/** Set if the node compares the encoded video with its source (`settings.quality_report`). */
const measuresQuality = z.literal(true).exactOptional();

/** The requested loudness of the encoded audio. */
const loudness = LoudnessSpec.exactOptional();
/** The requested audio tracks; absent: the chosen track of the source. */
const audioTracks = RequestedAudio.exactOptional();

/** A file with video, audio or both. */
export const VideoOutput = z.object({
  ...outputBase,
  ...VideoFormat.shape,
  ...frameParameters,
  ...videoParameters,
  watermark: Watermark.nullable(),
  /** Name of the object below the path of the storage. */
  path: z.string(),
  /** Start of the output in the source; with a clip also in the source, not in the clip. */
  offsetMs: z.number(),
  /** Length of the output. */
  durationMs: z.number().nullable(),
  /** Absent: none. */
  subtitles: Subtitles.exactOptional(),
  measuresQuality,
  loudness,
  audioTracks,
  burn,
  overlays,
});
export type VideoOutput = z.infer<typeof VideoOutput>;

/** The timestamps of the source whose frames become images, from its start. */
export const FrameSelection = z.discriminatedUnion("by", [
  /** This number of frames, spread evenly over the duration. */
  z.object({ by: z.literal("number"), number: z.int() }),
  /** At these timestamps, in the order of the request. */
  z.object({ by: z.literal("offsets"), offsetsMs: z.array(z.number()) }),
  /** A frame per interval, from the first frame. Null: an interval for the length of the source (api-v2 §5). */
  z.object({ by: z.literal("interval"), intervalMs: z.number().nullable() }),
  /** For animated images: this many scenes of this length each, spread evenly. */
  z.object({ by: z.literal("scenes"), number: z.int(), durationMs: z.number() }),
]);
export type FrameSelection = z.infer<typeof FrameSelection>;

/** Images from the source: single images, sprite sheets, or an animated image. */
export const ImageOutput = z.object({
  ...outputBase,
  ...ImageFormat.shape,
  ...frameParameters,
  ...imageParameters,
  watermark: Watermark.nullable(),
  /** Name of the object below the path of the storage; has a counter (`%02d`) if there may be more than one file. */
  path: z.string(),
  selection: FrameSelection,
  /** Images on sprite sheets, row by row; `limit` is the maximum per sheet, null: all. */
  sprite: z.object({ limit: z.int().nullable(), columns: z.int() }).nullable(),
  /** A WebVTT file that maps timestamps to images: the name of its object. */
  vtt: z.object({ path: z.string() }).nullable(),
  burn,
  overlays,
});
export type ImageOutput = z.infer<typeof ImageOutput>;

/** A file of text. Clients see the type `video`, as for files of audio. */
export const TextOutput = z.object({
  ...outputBase,
  ...TextFormat.shape,
  /** Name of the object below the path of the storage. */
  path: z.string(),
  text: SubtitleSpec,
});
export type TextOutput = z.infer<typeof TextOutput>;

/** Container of the segments of a package. */
export const SegmentFormat = z.enum(["mpegts", "fmp4"]);
export type SegmentFormat = z.infer<typeof SegmentFormat>;

/** Several renditions of the source in segments, with playlists. Paths are folders below the path of the storage. */
export const HttpStreamOutput = z.object({
  ...outputBase,
  ...streamParameters,
  type: z.literal("httpstream"),
  /**
   * Segments with HLS playlists. `muxed`: each segment of a variant with video also contains its audio; only with
   * MPEG-TS.
   */
  hls: z
    .object({ path: z.string(), segments: SegmentFormat.default("mpegts"), muxed: z.boolean().default(false) })
    .nullable(),
  /** Fragmented MP4 segments with a DASH manifest and, if `hlsFmp4`, also with HLS playlists. */
  dash: z.object({ path: z.string(), hlsFmp4: z.boolean() }).nullable(),
  /** Codecs of `STREAM_CODECS` in mp4, or copied audio; in the order of the request. */
  variants: z.array(VideoFormat),
  /** True to omit variants larger than the source, as for the default ladder. */
  dropsLargerVariants: z.boolean(),
  /** File name of the master playlist and the manifest, without extension. */
  playlistName: z.string(),
  segmentDurationMs: z.number(),
  /**
   * AES-128 encryption of the MPEG-TS segments: the key in hexadecimal, and the URL from which players load it. The key
   * is null in stored jobs and in plans, because it is encrypted with the secrets of the job; only tasks have it.
   */
  encryption: z.object({ key: z.string().nullable(), keyUri: z.string() }).nullable(),
  subtitles: Subtitles,
  /** True if the playlists are stored while the stream is encoded, and grow with it. */
  livePlaylist: z.boolean().default(false),
  /** Set to leave out videos that save few bits. All variants with video then have a VMAF. */
  dropsSimilarVariants: z.literal(true).exactOptional(),
  /** Videos that are left out, once known. Only in tasks and in plans of nodes. */
  dropped: z.array(DroppedVideo).exactOptional(),
  measuresQuality,
  loudness,
  audioTracks,
  burn,
  overlays,
});
export type HttpStreamOutput = z.infer<typeof HttpStreamOutput>;

export const OutputSpec = z.discriminatedUnion("type", [VideoOutput, ImageOutput, HttpStreamOutput, TextOutput]);
export type OutputSpec = z.infer<typeof OutputSpec>;

/** True for outputs with tracks of video or audio. */
export const hasTracks = (spec: OutputSpec): spec is VideoOutput | HttpStreamOutput =>
  spec.type === "video" || spec.type === "httpstream";

/** The type of an output as clients see it. */
export const typeOf = ({ type }: Pick<OutputSpec, "type">) => (type === "text" ? "video" : type);

/** The captions that an output draws into its frames. */
export const burnOf = (spec: OutputSpec): BurnSpec | undefined => (spec.type === "text" ? undefined : spec.burn);

/** The output with the images of its captions, which the node has decoded. */
export const withBitmaps = (spec: OutputSpec, bitmaps: BurnBitmaps | undefined): OutputSpec =>
  spec.type === "text" || !spec.burn || !bitmaps ? spec : { ...spec, burn: { ...spec.burn, bitmaps } };
