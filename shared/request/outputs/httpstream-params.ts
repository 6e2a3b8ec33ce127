// The parameters of one HTTP stream: HLS, DASH or both (api-v2 §5).

import * as z from "zod";
import type { VideoFormat } from "../../format/format-spec.ts";
import { parseFormat } from "../../format/parse-format.ts";
import { DEFAULT_LADDER } from "../../format/presets.ts";
import { joinPath } from "../../job/object-name.ts";
import type { HttpStreamOutput, SegmentFormat } from "../../job/output-spec.ts";
import type { AllowPrivate } from "../../network/address-policy.ts";
import { ok, type Result } from "../../result.ts";
import { strictObject } from "../../strict-object.ts";
import { cleanPath } from "../clean-path.ts";
import { invalid, parseSection } from "../parse-section.ts";
import { allowedUrl, commonParams, flag, folderPath, type Named, url } from "./output-params.ts";

const MAX_VARIANTS = 20;
const DEFAULT_NAME = "master";
const MAX_SUBTITLES = 50;
const SEGMENT_SECONDS = { min: 2, max: 10, default: 6 };

/** Text that playlists put in quotes, which HLS cannot escape (RFC 8216 §4.2). */
const quotable = (what: string, max: number) =>
  z
    .string(`must be a string with ${what}`)
    .min(1, "must not be empty")
    .max(max, `must have at most ${max} characters`)
    .regex(/^[^"\p{Cc}]*$/u, "must not contain quotes or control characters");

const subtitle = strictObject({
  url: url.describe("The http or https URL of a WebVTT or SubRip file"),
  language: z
    .string("must be a language tag")
    .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,7}$/, "must be a language tag, such as en or pt-BR")
    .describe("BCP 47 tag"),
  name: quotable("a name", 100).optional().describe("The name that players show; the language by default"),
  default: flag.default(false),
});

const playlistName = z
  .string("must be a file name")
  .regex(/^[^/%]{1,100}$/, "must be a file name of 1 to 100 characters, without a folder")
  .check(cleanPath)
  .optional();
const sameName = playlistName.describe("The same as `playlist_name` of the stream");
const HLS_VERSION = "must be an HLS version from 3 to 7; with 3, segments contain both video and audio";

/** Hints for parameters of the stream that are given in `hls` or `dash`. */
const STREAM_PARAM_HINTS = Object.fromEntries(
  ["variants", "segment_duration", "encryption", "subtitles", "thumbnails", "if", "key"].map((name) => [
    name,
    `it is a parameter of the stream: put it next to \`hls\` and \`dash\``,
  ]),
);

export const HttpStreamParams = strictObject({
  ...commonParams,
  path: folderPath.default("").describe("The folder in the storage that contains the folders of `hls` and `dash`"),
  hls: strictObject(
    {
      path: folderPath.describe("The folder of its files"),
      playlist_name: sameName,
      version: z
        .int(HLS_VERSION)
        .min(3, HLS_VERSION)
        .max(7, HLS_VERSION)
        .optional()
        .describe(
          "3: each MPEG-TS segment of a variant contains both its video and its audio, for players of that version",
        ),
    },
    { elsewhere: STREAM_PARAM_HINTS },
  )
    .optional()
    .describe("HLS with MPEG-TS segments, or with fragmented MP4 when all variants with video are hevc"),
  dash: strictObject(
    {
      path: folderPath.describe("The folder of its files"),
      hlsfmp4: flag.default(false).describe("Also create HLS playlists for the same segments"),
      playlist_name: sameName,
    },
    { elsewhere: STREAM_PARAM_HINTS },
  )
    .optional()
    .describe("DASH with fragmented MP4 segments"),
  variants: z
    .array(z.string("must be a string with a format"), "must be a list of formats")
    .min(1, "must contain at least one format")
    .max(MAX_VARIANTS, `must have at most ${MAX_VARIANTS} formats`)
    .optional()
    .describe(
      "The formats of the renditions: mp4 with h264, hevc or novideo, and aac or noaudio. HLS contains hevc variants only " +
        "if there are no h264 variants. By default, 64k audio and video from 240p to 2160p, up to the size of the input",
    ),
  playlist_name: playlistName.describe(
    `The file name of the master playlist and the manifest, without extension; ${DEFAULT_NAME} by default`,
  ),
  segment_duration: z
    .number("must be a number of seconds")
    .min(SEGMENT_SECONDS.min, `must be ${SEGMENT_SECONDS.min} or more`)
    .max(SEGMENT_SECONDS.max, `must be ${SEGMENT_SECONDS.max} or less`)
    .default(SEGMENT_SECONDS.default)
    .describe("2 to 10 seconds; segments start with keyframes, so they may be longer by up to one keyframe interval"),
  encryption: strictObject({
    key: z
      .string("must be a string")
      .regex(/^[0-9a-f]{32}$/i, "must be 16 bytes as 32 hexadecimal digits")
      .optional()
      .describe(
        "The AES-128 key in hexadecimal; by default the service creates one, which the metadata of the output contains",
      ),
    key_uri: quotable("the URL of the key", 2000).describe(
      "The URL from which players load the 16 bytes of the key, absolute or relative to the playlist",
    ),
  })
    .optional()
    .describe("Encrypt the MPEG-TS segments of `hls` with AES-128; segments of `dash` are not encrypted"),
  subtitles: z
    .array(subtitle, "must be a list of subtitles")
    .max(MAX_SUBTITLES, `must have at most ${MAX_SUBTITLES} subtitles`)
    .default([])
    .describe("Text tracks, of which at most one is the default"),
  thumbnails: flag
    .default(false)
    .describe(
      "Create sprite sheets of thumbnails for the seek bar of players, and a WebVTT file that locates each thumbnail",
    ),
}).describe("HLS, DASH or both: at least one of `hls` and `dash` is required, and `encryption` requires `hls`");
type HttpStreamParams = z.infer<typeof HttpStreamParams>;

export function parseHttpStream(
  { name, ...base }: Named,
  params: object,
  allow: AllowPrivate,
): Result<HttpStreamOutput> {
  const field = `outputs.${name}`;
  const parsed = parseSection(HttpStreamParams, params, field, "output_param_not_valid");
  if (!parsed.ok) return parsed;
  const { key = name, if: condition = null, path, hls, dash, encryption, thumbnails } = parsed.value;
  const conflict = conflictIn(parsed.value);
  if (conflict) return invalid("output_param_not_valid", `\`${field}${conflict}`);
  const variants = parseVariants(parsed.value.variants ?? DEFAULT_LADDER, `${field}.variants`);
  if (!variants.ok) return variants;
  const segments = hlsSegments(variants.value);
  const mismatch = segments === "fmp4" ? requiresMpegTs(parsed.value) : null;
  if (mismatch) return invalid("output_param_not_valid", `\`${field}.${mismatch}`);
  const subtitles = parseSubtitles(parsed.value.subtitles, `${field}.subtitles`, allow);
  if (!subtitles.ok) return subtitles;
  return {
    ok: true,
    value: {
      ...base,
      type: "httpstream",
      ...{ key, condition, thumbnails },
      hls: hls ? { path: joinPath(path, hls.path), segments, muxed: hls.version === 3 } : null,
      dash: dash ? { path: joinPath(path, dash.path), hlsFmp4: dash.hlsfmp4 } : null,
      variants: variants.value,
      dropsLargerVariants: parsed.value.variants === undefined,
      playlistName: playlistNames(parsed.value)[0] ?? DEFAULT_NAME,
      segmentDurationMs: parsed.value.segment_duration * 1000,
      encryption: encryption ? { key: encryption.key?.toLowerCase() ?? null, keyUri: encryption.key_uri } : null,
      subtitles: subtitles.value,
    },
  };
}

/** The different playlist names of a stream, given for the stream or in its packages. */
function playlistNames({ playlist_name, hls, dash }: HttpStreamParams): string[] {
  const given = [playlist_name, hls?.playlist_name, dash?.playlist_name];
  return [...new Set(given.filter((name) => name !== undefined))];
}

/** What is wrong with parameters that are valid one by one, after the path of the stream; null when nothing is. */
function conflictIn(params: HttpStreamParams): string | null {
  const { hls, dash, encryption } = params;
  if (!hls && !dash) return "` must have `hls` or `dash` or both, each an object with a `path`";
  const names = playlistNames(params);
  if (names.length > 1) {
    const quoted = names.map((name) => `\`${name}\``).join(" and ");
    return `.playlist_name\` has several values, ${quoted}; the master playlist and the manifest have the same name`;
  }
  return encryption && !hls ? ".encryption` requires `hls`, because only MPEG-TS segments are encrypted" : null;
}

function parseVariants(formats: readonly string[], field: string): Result<VideoFormat[]> {
  const variants: VideoFormat[] = [];
  for (const [at, format] of formats.entries()) {
    const parsed = parseFormat(format);
    if (!parsed.ok) return invalid("output_format_not_valid", `\`${field}.${at}\`: ${parsed.error.message}`);
    if (parsed.value.type !== "video" || !isStreamable(parsed.value)) {
      const allowed = "mp4 with h264, hevc or novideo, and aac or noaudio";
      return invalid(
        "output_format_not_valid",
        `\`${field}.${at}\`: \`${format}\` is not supported in streams; allowed: ${allowed}`,
      );
    }
    if (parsed.value.video?.twoPass) {
      const why = "is not supported in streams, whose variants are encoded in one pass; use `quality` and `maxrate`";
      return invalid("output_format_not_valid", `\`${field}.${at}\`: \`2pass\` ${why}`);
    }
    variants.push(parsed.value);
  }
  return ok(variants);
}

const isStreamable = ({ container, video, audio }: VideoFormat): boolean =>
  container === "mp4" &&
  (!video || video.codec === "h264" || video.codec === "hevc") &&
  (!audio || audio.codec === "aac");

/** HEVC requires fragmented MP4 (Apple, HLS Authoring Specification §1.5); H.264 uses MPEG-TS, which all players read. */
function hlsSegments(variants: readonly VideoFormat[]): SegmentFormat {
  const codecs = variants.flatMap(({ video }) => video?.codec ?? []);
  return codecs.length > 0 && codecs.every((codec) => codec === "hevc") ? "fmp4" : "mpegts";
}

/** A parameter that requires MPEG-TS, and why it is not allowed, if the segments of `hls` are fragmented MP4. */
function requiresMpegTs({ hls, encryption }: HttpStreamParams): string | null {
  const why = "requires MPEG-TS segments, which do not support HEVC; use h264 in at least one variant, or remove it";
  if (hls?.version === 3) return `hls.version\` 3 ${why}`;
  return hls && encryption ? `encryption\` ${why}` : null;
}

/** The normalization of playlists (RFC 8216 §4.1): names that look the same are the same. */
const composed = (name: string): string => name.normalize("NFC");

/** Names are unique, and at most one of the subtitles is the default (RFC 8216 §4.3.4.1.1). */
function parseSubtitles(
  requested: HttpStreamParams["subtitles"],
  field: string,
  allow: AllowPrivate,
): Result<HttpStreamOutput["subtitles"]> {
  const subtitles: HttpStreamOutput["subtitles"] = [];
  for (const [at, { name, ...subtitle }] of requested.entries()) {
    const address = allowedUrl(subtitle.url, `${field}.${at}.url`, allow);
    if (!address.ok) return address;
    subtitles.push({ ...subtitle, url: address.value, name: composed(name ?? subtitle.language) });
  }
  const twice = subtitles.findIndex(({ name }, at) => subtitles.findIndex((other) => other.name === name) < at);
  if (twice >= 0)
    return invalid(
      "output_param_not_valid",
      `\`${field}.${twice}.name\` must be unique, but other subtitles have the same name`,
    );
  if (subtitles.filter((subtitle) => subtitle.default).length > 1) {
    return invalid("output_param_not_valid", `\`${field}\` must have at most one default`);
  }
  return ok(subtitles);
}
