// The parameters of one HTTP stream: HLS, DASH or both (api-v2 §5).
import * as z from "zod";
import type { VideoFormat } from "../../format/format-spec.ts";
import { DEFAULT_LADDER } from "../../format/ladder.ts";
import { parseFormat } from "../../format/parse-format.ts";
import { joinPath } from "../../job/object-name.ts";
import type { HttpStreamOutput, SegmentFormat } from "../../job/output-spec.ts";
import type { AllowPrivate } from "../../network/address-policy.ts";
import { strictObject } from "../../strict-object.ts";
import { cleanPath } from "../clean-path.ts";
import { type Parsed, parseSection, refuse } from "../parse-section.ts";
import { allowedUrl, commonParams, flag, folderPath, type Named, url } from "./output-params.ts";

const MAX_VARIANTS = 20;
const DEFAULT_NAME = "master";
const MAX_SUBTITLES = 50;
const SEGMENT_SECONDS = { min: 2, max: 10, default: 6 };

/** Text that goes into a playlist between quotes, which HLS knows no way to escape (RFC 8216 §4.2). */
const quotable = (what: string, max: number) =>
  z
    .string(`must be ${what} in a string`)
    .min(1, "must not be empty")
    .max(max, `at most ${max} characters`)
    .regex(/^[^"\p{Cc}]*$/u, "must be without quotes and control characters");

const subtitle = strictObject({
  url: url.describe("http(s) URL of a WebVTT or SubRip file"),
  language: z
    .string("must be a language tag")
    .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,7}$/, "must be a language tag such as en or pt-BR")
    .describe("BCP 47 tag"),
  name: quotable("a name", 100).optional().describe("What viewers choose it by; the language when left out"),
  default: flag.default(false),
});

const playlistName = z
  .string("must be a file name")
  .regex(/^[^/%]{1,100}$/, "must be a file name of 1 to 100 characters, without folders")
  .check(cleanPath)
  .optional();
const sameName = playlistName.describe("The same as `playlist_name` beside it");
const HLS_VERSION = "must be a version of HLS from 3 to 7; 3 puts video and audio in the same segments";

/** What belongs beside `hls` and `dash`, for those who write it in one of them. */
const OF_THE_STREAM = Object.fromEntries(
  ["variants", "segment_duration", "encryption", "subtitles", "thumbnails", "if", "key"].map((name) => [
    name,
    `\`${name}\` belongs beside \`hls\` and \`dash\``,
  ]),
);

export const HttpStreamParams = strictObject({
  ...commonParams,
  path: folderPath.default("").describe("Folder in the storage, in front of the others"),
  hls: strictObject(
    {
      path: folderPath.describe("Folder of its files"),
      playlist_name: sameName,
      version: z
        .int(HLS_VERSION)
        .min(3, HLS_VERSION)
        .max(7, HLS_VERSION)
        .optional()
        .describe("3: each MPEG-TS segment of a variant holds its video and its audio, for players of that version"),
    },
    { elsewhere: OF_THE_STREAM },
  )
    .optional()
    .describe("HLS with MPEG-TS segments, or with fragmented MP4 when all variants with video are hevc"),
  dash: strictObject(
    {
      path: folderPath.describe("Folder of its files"),
      hlsfmp4: flag.default(false).describe("HLS playlists over the same segments"),
      playlist_name: sameName,
    },
    { elsewhere: OF_THE_STREAM },
  )
    .optional()
    .describe("DASH with fragmented MP4 segments"),
  variants: z
    .array(z.string("must be a format in a string"), "must be a list of formats")
    .min(1, "must hold at least one format")
    .max(MAX_VARIANTS, `at most ${MAX_VARIANTS} formats`)
    .optional()
    .describe(
      "Formats of the renditions: mp4 with h264, hevc or novideo, and aac or noaudio; hls has those of hevc only where " +
        "there are none of h264. " +
        "When no variants are named, sound of 64k and pictures of 240 to 2160 lines, as far as the input has them",
    ),
  playlist_name: playlistName.describe(
    `File name of master playlist and manifest, without extension; ${DEFAULT_NAME} unless given`,
  ),
  segment_duration: z
    .number("must be a number of seconds")
    .min(SEGMENT_SECONDS.min, `must be ${SEGMENT_SECONDS.min} or more`)
    .max(SEGMENT_SECONDS.max, `must be ${SEGMENT_SECONDS.max} or less`)
    .default(SEGMENT_SECONDS.default)
    .describe("Seconds, 2 to 10; segments begin with keyframes, so they may be up to one distance of those longer"),
  encryption: strictObject({
    key: z
      .string("must be a string")
      .regex(/^[0-9a-f]{32}$/i, "must be 16 bytes in 32 hexadecimal digits")
      .optional()
      .describe("AES-128 key in hexadecimal; when it is left out, one is made, which the output's metadata tells"),
    key_uri: quotable("the address of the key", 2000).describe(
      "Where players get the key, as its 16 bytes: a URL, absolute or from the playlist",
    ),
  })
    .optional()
    .describe("Encrypts the MPEG-TS segments of hls with AES-128; segments of dash stay as they are"),
  subtitles: z
    .array(subtitle, "must be a list of subtitles")
    .max(MAX_SUBTITLES, `at most ${MAX_SUBTITLES}`)
    .default([])
    .describe("Text tracks; one at most is the default"),
  thumbnails: flag
    .default(false)
    .describe("Sheets of small pictures for the player's seek bar, and a WebVTT file that says where each is"),
}).describe("HLS, DASH or both: at least one of `hls` and `dash` is needed, and `encryption` needs `hls`");
type HttpStreamParams = z.infer<typeof HttpStreamParams>;

export function parseHttpStream(
  { name, ...base }: Named,
  params: object,
  allow: AllowPrivate,
): Parsed<HttpStreamOutput> {
  const field = `outputs.${name}`;
  const parsed = parseSection(HttpStreamParams, params, field, "output_param_not_valid");
  if (!parsed.ok) return parsed;
  const { key = name, if: condition = null, path, hls, dash, encryption, thumbnails } = parsed.value;
  const reason = contradiction(parsed.value);
  if (reason) return refuse("output_param_not_valid", `\`${field}\`: ${reason}`);
  const variants = parseVariants(parsed.value.variants ?? DEFAULT_LADDER, `${field}.variants`);
  if (!variants.ok) return variants;
  const segments = hlsSegments(variants.value);
  const mismatch = segments === "fmp4" ? needsMpegTs(parsed.value) : null;
  if (mismatch) return refuse("output_param_not_valid", `\`${field}.${mismatch}`);
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

/** The names that a stream gives to its playlists, beside its packages and in them. */
function playlistNames({ playlist_name, hls, dash }: HttpStreamParams): string[] {
  const given = [playlist_name, hls?.playlist_name, dash?.playlist_name];
  return [...new Set(given.filter((name) => name !== undefined))];
}

function contradiction(params: HttpStreamParams): string | null {
  const { hls, dash, encryption } = params;
  if (!hls && !dash) return "at least one of `hls` and `dash` is needed, an object with a `path`";
  const names = playlistNames(params);
  if (names.length > 1) {
    const quoted = names.map((name) => `\`${name}\``).join(" and ");
    return `\`playlist_name\` is given as ${quoted}; master playlist and manifest have one name, give it once`;
  }
  return encryption && !hls ? "`encryption` is of MPEG-TS segments, so it needs `hls`" : null;
}

function parseVariants(formats: readonly string[], field: string): Parsed<VideoFormat[]> {
  const variants: VideoFormat[] = [];
  for (const [at, format] of formats.entries()) {
    const parsed = parseFormat(format);
    if (!parsed.ok) return refuse("output_format_not_valid", `\`${field}.${at}\`: ${parsed.message}`);
    if (parsed.spec.type !== "video" || !isStreamable(parsed.spec)) {
      const allowed = "mp4 with h264, hevc or novideo, and aac or noaudio";
      return refuse("output_format_not_valid", `\`${field}.${at}\`: \`${format}\` is no variant; allowed: ${allowed}`);
    }
    if (parsed.spec.video?.twoPass) {
      const why = "is not for variants, which are all made in one pass over the input; `quality` and `maxrate` are";
      return refuse("output_format_not_valid", `\`${field}.${at}\`: \`2pass\` ${why}`);
    }
    variants.push(parsed.spec);
  }
  return { ok: true, value: variants };
}

const isStreamable = ({ container, video, audio }: VideoFormat): boolean =>
  container === "mp4" &&
  (!video || video.codec === "h264" || video.codec === "hevc") &&
  (!audio || audio.codec === "aac");

/** HEVC is in fragmented MP4 only (Apple, HLS Authoring Specification §1.5), H.264 in what every player reads. */
function hlsSegments(variants: readonly VideoFormat[]): SegmentFormat {
  const codecs = variants.flatMap(({ video }) => video?.codec ?? []);
  return codecs.length > 0 && codecs.every((codec) => codec === "hevc") ? "fmp4" : "mpegts";
}

/** The parameter, and why it cannot be had, of a request whose `hls` has segments of fragmented MP4. */
function needsMpegTs({ hls, encryption }: HttpStreamParams): string | null {
  const why = "is for MPEG-TS segments, which hold no HEVC; use h264 in at least one variant, or leave it out";
  if (hls?.version === 3) return `hls.version\`: 3 ${why}`;
  return hls && encryption ? `encryption\`: ${why}` : null;
}

/** As playlists have it (RFC 8216 §4.1): names that look alike are the same. */
const composed = (name: string): string => name.normalize("NFC");

/** Names tell subtitles apart, and one of them at most is shown unasked (RFC 8216 §4.3.4.1.1). */
function parseSubtitles(
  asked: HttpStreamParams["subtitles"],
  field: string,
  allow: AllowPrivate,
): Parsed<HttpStreamOutput["subtitles"]> {
  const subtitles: HttpStreamOutput["subtitles"] = [];
  for (const [at, { name, ...subtitle }] of asked.entries()) {
    const address = allowedUrl(subtitle.url, `${field}.${at}.url`, allow);
    if (!address.ok) return address;
    subtitles.push({ ...subtitle, url: address.value, name: composed(name ?? subtitle.language) });
  }
  const twice = subtitles.findIndex(({ name }, at) => subtitles.findIndex((other) => other.name === name) < at);
  if (twice >= 0) return refuse("output_param_not_valid", `\`${field}.${twice}.name\`: another one has this name`);
  if (subtitles.filter((subtitle) => subtitle.default).length > 1) {
    return refuse("output_param_not_valid", `\`${field}\`: only one can be the default`);
  }
  return { ok: true, value: subtitles };
}
