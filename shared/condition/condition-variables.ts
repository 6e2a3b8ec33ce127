// The variables of conditions (api-v2 §6) and their values for a probed input.

import { type Clip, clipLength } from "../job/clip.ts";
import { chosenAudio, chosenVideo } from "../media/choose-streams.ts";
import { languageTag } from "../media/languages.ts";
import type { MediaProbe } from "../media/media-probe.ts";
import { sourceFacts } from "../media/source-facts.ts";
import type { ConditionValue, Variables } from "./condition.ts";

/** Variable names without the prefix `input.`. */
export const CONDITION_VARIABLES = [
  ...["width", "height", "rotation", "fps", "ifps", "duration", "file_size", "mime_type", "format", "video_codec"],
  ...["audio_codec", "video_bitrate", "audio_bitrate", "sample_rate", "channels", "is_hd", "is_audio_only"],
  ...["audio_tracks", "audio_languages"],
] as const;

/** Smaller side of a high-definition frame: 720p (ITU-T and common usage). */
const HD_LINES = 720;

const METADATA = /^input\.metadata\.(?:format|streams\.\d+)(?:\.[\w-]+)+$/;

/** True if conditions may use this variable. */
export const isConditionVariable = (name: string): boolean =>
  CONDITION_VARIABLES.some((known) => name === `input.${known}`) || METADATA.test(name);

/** Variables of an input. `duration`: of its clip. Width and height: of the coded frame, before `rotation`. */
export function inputVariables(probe: MediaProbe, clip?: Clip): Variables {
  const named = namedVariables(probe, clip);
  return (name) => {
    const path = name.split(".").slice(1);
    if (path[0] !== "metadata") return named[path[0] ?? ""];
    return scalar(path.slice(1).reduce<unknown>(member, probe));
  };
}

function namedVariables(
  probe: MediaProbe,
  clip: Clip | undefined,
): Readonly<Record<string, ConditionValue | undefined>> {
  const { video, audio, ...facts } = sourceFacts(probe);
  const durationMs = clipLength(clip, facts.durationMs);
  const videoStream = chosenVideo(probe.streams);
  const audioStream = chosenAudio(probe.streams);
  const languages = probe.streams.flatMap(({ codec_type, tags }) =>
    codec_type === "audio" ? languageTag(tags?.language) : [],
  );
  return {
    width: video?.codedWidth,
    height: video?.codedHeight,
    rotation: video?.rotation,
    fps: video?.fps ?? undefined,
    ifps: video?.fps ? Math.round(video.fps) : undefined,
    duration: durationMs === null ? undefined : durationMs / 1000,
    file_size: probe.format.size,
    mime_type: mimeType(probe.format.format_name, video !== null),
    format: probe.format.format_name?.split(",")[0],
    video_codec: videoStream?.codec_name,
    audio_codec: audioStream?.codec_name,
    video_bitrate: videoStream?.bit_rate,
    audio_bitrate: audioStream?.bit_rate,
    sample_rate: audio?.sampleRateHz ?? undefined,
    channels: audio?.channels ?? undefined,
    is_hd: video !== null && Math.min(video.codedWidth, video.codedHeight) >= HD_LINES,
    is_audio_only: video === null && audio !== null,
    audio_tracks: languages.length,
    audio_languages: languages.join(","),
  };
}

/** Registered media subtypes that differ from the first name of ffprobe's format. */
const SUBTYPES: Readonly<Record<string, string>> = {
  mov: "mp4",
  matroska: "x-matroska",
  mpegts: "mp2t",
  avi: "x-msvideo",
};

function mimeType(formatName: string | undefined, hasVideo: boolean): string | undefined {
  const format = formatName?.split(",")[0];
  return format && `${hasVideo ? "video" : "audio"}/${SUBTYPES[format] ?? format}`;
}

function member(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value[Number(name)];
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

const scalar = (value: unknown): ConditionValue | undefined =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : undefined;
