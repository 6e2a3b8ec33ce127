// Parameters of a video or audio output (api-v2 §5).

import { singleTrackReason, TEXT_TRACK_CONTAINERS, textCodecOf } from "../../format/containers.ts";
import type { VideoFormat } from "../../format/format-spec.ts";
import type { VideoOutput } from "../../job/output-spec.ts";
import type { AllowPrivate } from "../../network/address-policy.ts";
import { declarationsOf, PARAMETERS, valuesOf } from "../../parameters/parameter.ts";
import { frameParameters, videoParameters } from "../../parameters/plain-parameters.ts";
import { ok, type Result } from "../../result.ts";
import { strictObject } from "../../strict-object.ts";
import { invalid, parseSection } from "../parse-section.ts";
import { audio, parseAudio } from "./audio-tracks.ts";
import { burn, parseBurn } from "./burn.ts";
import { frameConflict } from "./frame-conflict.ts";
import { loudness, parseLoudness } from "./loudness.ts";
import {
  FORMAT_SPEC_HINTS,
  fileParam,
  formatParams,
  type Named,
  parseWatermark,
  seconds,
  watermark,
} from "./output-params.ts";
import { overlays, parseOverlays } from "./overlays.ts";
import { parseSubtitles, SUBTITLES, subtitles } from "./subtitles.ts";

export const VideoParams = strictObject(
  {
    path: fileParam(),
    ...formatParams,
    offset: seconds
      .min(0, "must be 0 or more")
      .optional()
      .describe("Where in the input the output starts, in seconds")
      .register(PARAMETERS, { label: "Start at", help: "Seconds" }),
    duration: seconds
      .positive("must be more than 0 seconds")
      .optional()
      .describe("Length of the output, in seconds")
      .register(PARAMETERS, { label: "Length", help: "Seconds" }),
    ...frameParameters,
    watermark,
    ...videoParameters,
    burn,
    overlays,
    loudness,
    audio,
    subtitles: subtitles.optional().register(PARAMETERS, SUBTITLES),
  },
  { elsewhere: FORMAT_SPEC_HINTS },
).describe("A file with video and audio, or with one of them. Parameters that change the video require encoding it");
const DECLARED = declarationsOf(VideoParams);

export function parseVideo(
  { name, ...base }: Named,
  format: VideoFormat,
  params: object,
  allow: AllowPrivate,
): Result<VideoOutput> {
  const field = `outputs.${name}`;
  const parsed = parseSection(VideoParams, params, field, "output_param_not_valid");
  if (!parsed.ok) return parsed;
  const { key = name, path, if: condition = null, offset = 0, duration } = parsed.value;
  const obstacle = !format.video
    ? "the format has no video"
    : format.video.codec === "copy"
      ? "the format copies the video without encoding it"
      : null;
  const change = Object.entries(parsed.value).find(
    ([param, value]) =>
      Object.hasOwn(params, param) && DECLARED.get(param)?.changesVideo && value !== false && value !== "keep",
  );
  if (obstacle && change) {
    return invalid("output_param_not_valid", `\`${field}.${change[0]}\` is not allowed, because ${obstacle}`);
  }
  const conflict = frameConflict(parsed.value, format.video ? [format.video.size] : []);
  if (conflict) return invalid("output_param_not_valid", `\`${field}${conflict}`);
  const silent = !format.audio
    ? "the format has no audio"
    : format.audio.codec === "copy"
      ? "the format copies the audio without encoding it"
      : null;
  if (silent && parsed.value.loudness !== undefined) {
    return invalid("output_param_not_valid", `\`${field}.loudness\` is not allowed, because ${silent}`);
  }
  const overlay = parseWatermark(parsed.value.watermark, field, allow);
  if (!overlay.ok) return overlay;
  const owner = {
    container: format.container,
    format: format.audio,
    single: singleTrackReason(format.container),
    trimsCopy: offset > 0 && (format.video ?? format.audio)?.codec === "copy",
  };
  const tracks = parseAudio(parsed.value.audio, `${field}.audio`, owner, allow);
  if (!tracks.ok) return tracks;
  const texts = parseSubtitles(parsed.value.subtitles ?? [], `${field}.subtitles`, allow);
  if (!texts.ok) return texts;
  const untextable = texts.value.length > 0 ? withoutText(format, offset) : null;
  if (untextable)
    return invalid("output_param_not_valid", `\`${field}.subtitles\` is not allowed, because ${untextable}`);
  const burnt = parseBurn(parsed.value.burn, field, allow);
  if (!burnt.ok) return burnt;
  const drawn = parseOverlays(parsed.value.overlays, field, allow);
  if (!drawn.ok) return drawn;
  return ok({
    ...base,
    ...format,
    ...valuesOf({ ...frameParameters, ...videoParameters }, parsed.value),
    watermark: overlay.value,
    key,
    path,
    condition,
    offsetMs: offset * 1000,
    durationMs: duration === undefined ? null : duration * 1000,
    ...parseLoudness(parsed.value.loudness),
    ...tracks.value,
    ...(texts.value.length > 0 ? { subtitles: texts.value } : {}),
    ...burnt.value,
    ...drawn.value,
  });
}

/** Returns the reason why a format cannot have subtitles; null if it can. */
function withoutText({ container, video, audio }: VideoFormat, offset: number): string | null {
  if (textCodecOf(container) === null) return `${container} has no text tracks; ${TEXT_TRACK_CONTAINERS} have`;
  // A copy starts at the keyframe before its offset.
  return (video ?? audio)?.codec === "copy" && offset > 0 ? "a copy with an `offset` starts at a keyframe" : null;
}
