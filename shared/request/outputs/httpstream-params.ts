// Schema of the parameters of an HTTP stream (api-v2 §5).

import * as z from "zod";
import { STREAM_CODECS } from "../../format/stream-codecs.ts";
import { SegmentFormat } from "../../job/output-spec.ts";
import { flag, oneOf, PARAMETERS } from "../../parameters/parameter.ts";
import { streamParameters } from "../../parameters/plain-parameters.ts";
import { strictObject } from "../../strict-object.ts";
import { cleanPath } from "../clean-path.ts";
import { audio } from "./audio-tracks.ts";
import { burn } from "./burn.ts";
import { loudness } from "./loudness.ts";
import { commonParams, folderPath } from "./output-params.ts";
import { overlays } from "./overlays.ts";
import { quotable, SUBTITLES, subtitles } from "./subtitles.ts";

const MAX_VARIANTS = 20;
export const DEFAULT_NAME = "master";
const SEGMENT_SECONDS = { min: 2, max: 10, default: 6 };

const playlistName = z
  .string("must be a file name")
  .regex(/^[^/%]{1,100}$/, "must be a file name of 1 to 100 characters, without a folder")
  .check(cleanPath)
  .optional();
const sameName = playlistName.describe("The same as `playlist_name` of the stream");
const folder = folderPath.describe("The folder of its files");
const HLS_VERSION = "must be an HLS version from 3 to 7; with 3, segments contain both video and audio";

/** Completes a list of formats: `mp4 with …`. */
export const STREAM_FORMATS = `${STREAM_CODECS.video.join(", ")} or novideo, and ${STREAM_CODECS.audio.join(", ")}, copy or noaudio`;

const streamParams = {
  variants: z
    .array(z.string("must be a string with a format"), "must be a list of formats")
    .min(1, "must contain at least one format")
    .max(MAX_VARIANTS, `must have at most ${MAX_VARIANTS} formats`)
    .optional()
    .describe(
      `The formats of the renditions: mp4 with ${STREAM_FORMATS}. Audio has at most two codecs. By default, 64k audio ` +
        "and video from 240p to 2160p, up to the size of the input",
    ),
  playlist_name: playlistName
    .describe(`The file name of the master playlist and the manifest, without extension; ${DEFAULT_NAME} by default`)
    .register(PARAMETERS, { label: "Name of the playlist", example: "master" }),
  segment_duration: z
    .number("must be a number of seconds")
    .min(SEGMENT_SECONDS.min, `must be ${SEGMENT_SECONDS.min} or more`)
    .max(SEGMENT_SECONDS.max, `must be ${SEGMENT_SECONDS.max} or less`)
    .default(SEGMENT_SECONDS.default)
    .describe("2 to 10 seconds; segments start with keyframes, so they may be longer by up to one keyframe interval")
    .register(PARAMETERS, { label: "Segments", help: "Seconds" }),
  encryption: strictObject({
    key: z
      .string("must be a string")
      .regex(/^[0-9a-f]{32}$/i, "must be 16 bytes as 32 hexadecimal digits")
      .optional()
      .describe(
        "The AES-128 key in hexadecimal; by default the service creates a key, which the metadata of the output contains",
      )
      .register(PARAMETERS, { label: "Key", help: "Made by the service by default", isSecret: true }),
    key_uri: quotable("the URL of the key", 2000)
      .describe("The URL from which players load the 16 bytes of the key, absolute or relative to the playlist")
      .register(PARAMETERS, { label: "URL of the key", help: "Encrypts the HLS segments (AES-128)" }),
  })
    .optional()
    .describe("Encrypt the MPEG-TS segments of `hls` with AES-128; segments of `dash` are not encrypted"),
  subtitles: subtitles.default([]).register(PARAMETERS, SUBTITLES),
  crop: streamParameters.crop,
  fit: streamParameters.fit,
  captions: streamParameters.captions,
  loudness,
  audio,
  burn,
  overlays,
  thumbnails: streamParameters.thumbnails,
  live_playlist: flag
    .default(false)
    .describe(
      "Store the playlists while the stream is encoded, so that players can start: they grow with it (HLS: type EVENT, " +
        "DASH: a dynamic manifest), and are replaced by the complete playlists at the end",
    )
    .register(PARAMETERS, { label: "Play while it is encoded", help: "The playlists grow with the stream" }),
  drop_larger_variants: flag
    .default(false)
    .describe("Treat `variants` as the default ladder: none is larger than the input, and a portrait input turns them")
    .register(PARAMETERS, { label: "Leave out renditions larger than the source" }),
  drop_similar_variants: flag
    .default(false)
    .describe(
      "Leave out variants that need more than three quarters of the bits of the next larger one, except the smallest. " +
        "All variants with video need `quality=vmaf…`",
    )
    .register(PARAMETERS, {
      label: "Leave out similar renditions",
      help: "Renditions that save few bits; all videos need a VMAF",
    }),
};

/** Hints for parameters of the stream that are given in `hls` or `dash`. */
const STREAM_PARAM_HINTS = Object.fromEntries(
  Object.keys({ ...commonParams, ...streamParams }).map((name) => [
    name,
    "it is a parameter of the stream: put it next to `hls` and `dash`",
  ]),
);

export const HttpStreamParams = strictObject({
  ...commonParams,
  path: folderPath
    .default("")
    .describe("The folder in the storage that contains the folders of `hls` and `dash`")
    .register(PARAMETERS, { label: "Folder in the storage", example: "video", first: true }),
  hls: strictObject(
    {
      path: folder
        .clone()
        .register(PARAMETERS, { label: "HLS in", example: "hls", help: "Empty for none", first: true }),
      segments: oneOf(SegmentFormat.options)
        .optional()
        .describe(
          "mpegts: segments with h264, aac and ac3; variants with other codecs are left out. fmp4: fragmented MP4, for all " +
            "codecs. By default mpegts, or fmp4 if it would leave out all variants with video",
        )
        .register(PARAMETERS, { label: "HLS segments", help: "fmp4 for all codecs" }),
      playlist_name: sameName,
      version: z
        .int(HLS_VERSION)
        .min(3, HLS_VERSION)
        .max(7, HLS_VERSION)
        .optional()
        .describe(
          "3: each MPEG-TS segment of a variant contains both its video and its audio, for players of that version",
        )
        .register(PARAMETERS, { label: "HLS version", help: "3: video and audio in the same segments" }),
    },
    { elsewhere: STREAM_PARAM_HINTS },
  )
    .optional()
    .describe("HLS with segments of MPEG-TS or fragmented MP4"),
  dash: strictObject(
    {
      path: folder
        .clone()
        .register(PARAMETERS, {
          label: "DASH in",
          example: "dash",
          help: "Fragmented MP4; empty for none",
          first: true,
        }),
      hlsfmp4: flag
        .default(false)
        .describe("Also create HLS playlists for the same segments")
        .register(PARAMETERS, { label: "HLS playlists for the DASH segments, too" }),
      playlist_name: sameName,
    },
    { elsewhere: STREAM_PARAM_HINTS },
  )
    .optional()
    .describe("DASH with fragmented MP4 segments"),
  ...streamParams,
}).describe("HLS, DASH or both: at least one of `hls` and `dash` is required, and `encryption` requires `hls`");
export type HttpStreamParams = z.infer<typeof HttpStreamParams>;
