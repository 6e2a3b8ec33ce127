// Parses an HTTP stream: HLS, DASH or both.

import type { VideoFormat } from "../../format/format-spec.ts";
import { parseFormat } from "../../format/parse-format.ts";
import { DEFAULT_LADDER } from "../../format/presets.ts";
import { fitsMpegTs, STREAM_CODECS } from "../../format/stream-codecs.ts";
import type { RequestedTrack } from "../../job/audio-tracks.ts";
import { joinPath } from "../../job/object-name.ts";
import type { HttpStreamOutput, SegmentFormat } from "../../job/output-spec.ts";
import type { AllowPrivate } from "../../network/address-policy.ts";
import { valuesOf } from "../../parameters/parameter.ts";
import { streamParameters } from "../../parameters/plain-parameters.ts";
import { ok, type Result } from "../../result.ts";
import { invalid, parseSection } from "../parse-section.ts";
import { parseAudio } from "./audio-tracks.ts";
import { parseBurn } from "./burn.ts";
import { frameConflict } from "./frame-conflict.ts";
import { DEFAULT_NAME, HttpStreamParams, STREAM_FORMATS } from "./httpstream-params.ts";
import { parseLoudness } from "./loudness.ts";
import type { Named } from "./output-params.ts";
import { parseOverlays } from "./overlays.ts";
import { parseSubtitles } from "./subtitles.ts";

export function parseHttpStream(
  { name, ...base }: Named,
  params: object,
  allow: AllowPrivate,
): Result<HttpStreamOutput> {
  const field = `outputs.${name}`;
  const parsed = parseSection(HttpStreamParams, params, field, "output_param_not_valid");
  if (!parsed.ok) return parsed;
  const { key = name, if: condition = null, path, hls, dash, encryption } = parsed.value;
  const conflict = conflictIn(parsed.value);
  if (conflict) return invalid("output_param_not_valid", `\`${field}${conflict}`);
  const variants = parseVariants(parsed.value.variants ?? DEFAULT_LADDER, `${field}.variants`);
  if (!variants.ok) return variants;
  const unrated = parsed.value.drop_similar_variants ? withoutVmaf(variants.value) : null;
  if (unrated) return invalid("output_param_not_valid", `\`${field}.drop_similar_variants\` ${unrated}`);
  if (parsed.value.loudness !== undefined && variants.value.every(({ audio }) => !audio)) {
    return invalid("output_param_not_valid", `\`${field}.loudness\` requires variants with audio`);
  }
  const drawing = (["burn", "overlays"] as const).find((name) => parsed.value[name] !== undefined);
  if (drawing && variants.value.every(({ video }) => !video)) {
    return invalid("output_param_not_valid", `\`${field}.${drawing}\` requires variants with video`);
  }
  const frames = frameConflict(
    parsed.value,
    variants.value.flatMap(({ video }) => (video ? [video.size] : [])),
  );
  if (frames) return invalid("output_param_not_valid", `\`${field}${frames}`);
  const segments = hls?.segments ?? hlsSegments(variants.value);
  const mismatch = codecConflict(parsed.value, variants.value, segments);
  if (mismatch) return invalid("output_param_not_valid", `\`${field}.${mismatch}`);
  const owner = {
    container: "mp4" as const,
    format: variants.value.find(({ audio }) => audio)?.audio ?? null,
    single: hls?.version === 3 ? "`hls.version` 3 has one audio track in its segments" : null,
    trimsCopy: false,
  };
  const tracks = parseAudio(parsed.value.audio, `${field}.audio`, owner, allow);
  if (!tracks.ok) return tracks;
  const codecs = audioCodecs(variants.value);
  const other = tracks.value.audioTracks === "all" ? -1 : (tracks.value.audioTracks ?? []).findIndex(isNot(codecs));
  if (other >= 0) {
    return invalid("output_param_not_valid", `\`${field}.audio.${other}.format\` must be ${ownFormatRule(codecs)}`);
  }
  const subtitles = parseSubtitles(parsed.value.subtitles, `${field}.subtitles`, allow);
  if (!subtitles.ok) return subtitles;
  const burnt = parseBurn(parsed.value.burn, field, allow);
  if (!burnt.ok) return burnt;
  const drawn = parseOverlays(parsed.value.overlays, field, allow);
  if (!drawn.ok) return drawn;
  return ok({
    ...base,
    type: "httpstream",
    key,
    condition,
    ...valuesOf(streamParameters, parsed.value),
    livePlaylist: parsed.value.live_playlist,
    hls: hls ? { path: joinPath(path, hls.path), segments, muxed: hls.version === 3 } : null,
    dash: dash ? { path: joinPath(path, dash.path), hlsFmp4: dash.hlsfmp4 } : null,
    variants: variants.value,
    dropsLargerVariants: parsed.value.drop_larger_variants || parsed.value.variants === undefined,
    ...(parsed.value.drop_similar_variants ? { dropsSimilarVariants: true } : {}),
    playlistName: playlistNames(parsed.value)[0] ?? DEFAULT_NAME,
    segmentDurationMs: parsed.value.segment_duration * 1000,
    encryption: encryption ? { key: encryption.key?.toLowerCase() ?? null, keyUri: encryption.key_uri } : null,
    subtitles: subtitles.value,
    ...parseLoudness(parsed.value.loudness),
    ...tracks.value,
    ...burnt.value,
    ...drawn.value,
  });
}

/** Codecs of the variants' audio, each once. */
const audioCodecs = (variants: readonly VideoFormat[]): string[] => [
  ...new Set(variants.flatMap(({ audio }) => audio?.codec ?? [])),
];

/** All tracks of a group have the same codec, so a track has its own encoding only if there is a single codec. */
const isNot =
  (codecs: readonly string[]) =>
  ({ format }: RequestedTrack): boolean =>
    format !== null && codecs.some((codec) => codec !== format.codec);

const ownFormatRule = (codecs: readonly string[]): string =>
  codecs.length === 1
    ? `${codecs[0]} in streams, like the audio of the variants`
    : "left out, because the variants have audio in several codecs";

/** Returns the different playlist names of a stream and its packages. */
function playlistNames({ playlist_name, hls, dash }: HttpStreamParams): string[] {
  const playlistNames = [playlist_name, hls?.playlist_name, dash?.playlist_name];
  return [...new Set(playlistNames.filter((name) => name !== undefined))];
}

/**
 * Returns the conflict between parameters that are valid alone, to append to the path of the stream; null if there is
 * none.
 */
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
      const allowed = `mp4 with ${STREAM_FORMATS}`;
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

/**
 * Returns the reason why bits of these variants cannot be compared, to append to `drop_similar_variants`; null if they
 * can.
 */
function withoutVmaf(variants: readonly VideoFormat[]): string | null {
  const at = variants.findIndex(({ video }) => video !== null && !("vmaf" in video.rate));
  const needs = "requires `quality=vmaf…` in all variants with video, such as `mp4:720p::quality=vmaf93`";
  if (at >= 0) return `${needs}; \`variants.${at}\` has none`;
  return variants.some(({ video }) => video) ? null : "requires variants with video";
}

const isStreamable = ({ container, video, audio }: VideoFormat): boolean =>
  container === "mp4" &&
  (!video || STREAM_CODECS.video.some((codec) => codec === video.codec)) &&
  (!audio || audio.codec === "copy" || STREAM_CODECS.audio.some((codec) => codec === audio.codec));

/** Returns the default of `hls.segments`: MPEG-TS, which all players read, if it holds a variant with video. */
function hlsSegments(variants: readonly VideoFormat[]): SegmentFormat {
  const videos = variants.filter(({ video }) => video !== null);
  return (videos.length > 0 ? videos : variants).some(fitsMpegTs) ? "mpegts" : "fmp4";
}

/** Players read the audio of a stream in one of two codecs. More would multiply the variants of playlists. */
const MOST_AUDIO_CODECS = 2;

/** Returns a parameter that the codecs or the segments of `hls` rule out, with the reason; null if there is none. */
function codecConflict(
  { hls, encryption, loudness, audio }: HttpStreamParams,
  variants: readonly VideoFormat[],
  segments: SegmentFormat,
): string | null {
  const codecs = audioCodecs(variants);
  if (codecs.length > MOST_AUDIO_CODECS) {
    return `variants\` must have at most two audio codecs, not ${codecs.join(", ")}`;
  }
  const changed = loudness === undefined ? audio && "audio" : "loudness";
  if (changed && codecs.includes("copy")) return `${changed}\` requires audio that is encoded, not copied`;
  if (!hls) return null;
  if (segments === "mpegts") {
    const why = "leaves out all variants: MPEG-TS holds only h264 with aac, ac3 or noaudio; use `fmp4`";
    return variants.some(fitsMpegTs) ? null : `hls.segments\` mpegts ${why}`;
  }
  const why = "requires MPEG-TS segments, so h264 with aac or ac3 in at least one variant, and not `segments: fmp4`";
  if (hls.version === 3) return `hls.version\` 3 ${why}`;
  return encryption ? `encryption\` ${why}` : null;
}
