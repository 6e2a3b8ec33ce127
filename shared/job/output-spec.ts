// What one output is to be, after the request was parsed: complete, defaults filled in, units in names.
import * as z from "zod";
import { ImageFormat, VideoFormat } from "../format/format-spec.ts";

const outputBase = {
  /** Position in the request, from 0: names the output inside a job. */
  index: z.int(),
  key: z.string(),
  /** The format as answers echo it: as it was sent, or in its canonical form when a hash came with it. */
  format: z.string(),
  /** The output is made only if this holds for the input (`if`); null: always. */
  condition: z.string().nullable(),
};

export const FITS = ["pad", "crop"] as const;
export const WATERMARK_POSITIONS = ["topleft", "topright", "bottomleft", "bottomright"] as const;

const picture = {
  /** What becomes of a picture that has another shape than the size asked for, which is a box when it has two sides. */
  fit: z.enum(FITS),
  /** Quarter turns, as ffmpeg counts them: 0 left and flipped, 1 right, 2 left, 3 right and flipped (upside down). */
  transpose: z.int().nullable(),
  vflip: z.boolean(),
  hflip: z.boolean(),
  watermark: z.object({ url: z.string(), position: z.enum(WATERMARK_POSITIONS) }).nullable(),
};

/** A file of picture and sound, or of either. */
export const VideoOutput = z.object({
  ...outputBase,
  ...VideoFormat.shape,
  ...picture,
  /** Object name below the storage's own path. */
  path: z.string(),
  /** Where in the source it begins. */
  offsetMs: z.number(),
  /** Length to cut the output to. */
  durationMs: z.number().nullable(),
  deinterlace: z.boolean(),
});
export type VideoOutput = z.infer<typeof VideoOutput>;

/** Which moments of the source become pictures; times count from its beginning. */
export const PictureSelection = z.discriminatedUnion("by", [
  /** So many, evenly spread over the duration. */
  z.object({ by: z.literal("number"), number: z.int() }),
  /** At these times, in the order of the request. */
  z.object({ by: z.literal("offsets"), offsetsMs: z.array(z.number()) }),
  /** One every so often, from the first frame; null: as often as suits the source's length (api-v2 §5). */
  z.object({ by: z.literal("interval"), intervalMs: z.number().nullable() }),
  /** For a picture that moves: so many scenes of this length each, evenly spread. */
  z.object({ by: z.literal("scenes"), number: z.int(), durationMs: z.number() }),
]);
export type PictureSelection = z.infer<typeof PictureSelection>;

/** Pictures out of the film: single ones, sheets of them, or one that moves. */
export const ImageOutput = z.object({
  ...outputBase,
  ...ImageFormat.shape,
  ...picture,
  /** Object name below the storage's own path; holds a counter (`%02d`) where more than one file may result. */
  path: z.string(),
  selection: PictureSelection,
  /** The centre square of the picture. */
  square: z.boolean(),
  /** 1 to 5, strongest last; null: none. */
  blur: z.int().nullable(),
  /** Pictures laid out on sheets, row by row; `limit` is how many a sheet holds at most, null: all. */
  sprite: z.object({ limit: z.int().nullable(), columns: z.int() }).nullable(),
  /** A WebVTT file that says which picture belongs to which moment: its object name. */
  vtt: z.object({ path: z.string() }).nullable(),
});
export type ImageOutput = z.infer<typeof ImageOutput>;

/** How a package of a stream holds its tracks. */
export const SegmentFormat = z.enum(["mpegts", "fmp4"]);
export type SegmentFormat = z.infer<typeof SegmentFormat>;

/** One film in several renditions, in segments, with playlists. Paths are folders below the storage's own path. */
export const HttpStreamOutput = z.object({
  ...outputBase,
  type: z.literal("httpstream"),
  /**
   * Segments with HLS playlists. They are of MPEG-TS, or of fragmented MP4 where all video is HEVC. `muxed`: each segment of
   * a variant with video holds its audio too; only in MPEG-TS. Jobs stored before these two members existed lack them.
   */
  hls: z
    .object({ path: z.string(), segments: SegmentFormat.default("mpegts"), muxed: z.boolean().default(false) })
    .nullable(),
  /** Fragmented MP4 segments with a DASH manifest and, if `hlsFmp4`, with HLS playlists too. */
  dash: z.object({ path: z.string(), hlsFmp4: z.boolean() }).nullable(),
  /** H.264, HEVC, AAC in mp4; in the order of the request. */
  variants: z.array(VideoFormat),
  /** Whether variants larger than the source are left out: so for the default ladder. */
  dropsLargerVariants: z.boolean(),
  /** File name of master playlist and manifest, without extension. */
  playlistName: z.string(),
  segmentDurationMs: z.number(),
  /**
   * AES-128 of the MPEG-TS segments: the key in hexadecimal, and where players get it. The key is null wherever a job is
   * kept or planned, since it lies sealed among the job's secrets: only tasks have it.
   */
  encryption: z.object({ key: z.string().nullable(), keyUri: z.string() }).nullable(),
  /** `language` is a BCP 47 tag. */
  subtitles: z.array(z.object({ url: z.string(), language: z.string(), name: z.string(), default: z.boolean() })),
  /** Sheets of small pictures with a WebVTT file, for the player's seek bar. */
  thumbnails: z.boolean(),
});
export type HttpStreamOutput = z.infer<typeof HttpStreamOutput>;

export const OutputSpec = z.discriminatedUnion("type", [VideoOutput, ImageOutput, HttpStreamOutput]);
export type OutputSpec = z.infer<typeof OutputSpec>;
