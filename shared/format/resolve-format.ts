// Completes the requested specs of a format with defaults, and rejects what is not supported.

import {
  IMAGE_CONTAINER_TRAITS,
  isImageContainer,
  TRACK_CONTAINER_TRAITS,
  TRACK_CONTAINERS,
  type TrackContainer,
} from "./containers.ts";
import type { FormatSpec, ImageFormat, VideoFormat } from "./format-spec.ts";
import { readQualityStep, readResolution, readSwitch } from "./grammar/read-specs.ts";
import {
  AUDIO_SPECS,
  FILE_SPECS,
  FormatError,
  type RequestedSpecs,
  read,
  rejectSpecs,
  VIDEO_SPECS,
} from "./grammar/requested-specs.ts";
import type { SplitFormat } from "./grammar/split-format.ts";
import { AUTOMATIC_RESOLUTION, BEST_QUALITY, MAX_ANIMATED_WIDTH } from "./presets.ts";
import { resolveAudio } from "./resolve-audio.ts";
import { resolveVideo } from "./resolve-video.ts";

/** Completes a format. Throws FormatError, whose message states what is allowed. */
export function resolveFormat({ container, requested }: SplitFormat): FormatSpec {
  return isImageContainer(container) ? resolveImage(container, requested) : resolveTracks(container, requested);
}

const TRACK_SPECS = [...VIDEO_SPECS, ...AUDIO_SPECS, ...FILE_SPECS].filter(
  (spec) => spec !== "resolution" && spec !== "quality",
);

function resolveImage(container: ImageFormat["container"], requested: RequestedSpecs): ImageFormat {
  rejectSpecs(requested, TRACK_SPECS, "an image format has only a `resolution` and a `quality`");
  if (IMAGE_CONTAINER_TRAITS[container].lossless) rejectSpecs(requested, ["quality"], `${container} is lossless`);
  const { size } = read(requested, "resolution", readResolution) ?? AUTOMATIC_RESOLUTION;
  if (IMAGE_CONTAINER_TRAITS[container].animated && (size.width ?? 0) > MAX_ANIMATED_WIDTH) {
    throw new FormatError(
      "resolution",
      `The width of ${container} must be at most ${MAX_ANIMATED_WIDTH} pixels, not ${size.width}`,
    );
  }
  const quality = read(requested, "quality", readQualityStep) ?? BEST_QUALITY;
  return { type: "image", container, size, ...(quality === BEST_QUALITY ? {} : { quality }) };
}

function resolveTracks(container: TrackContainer, requested: RequestedSpecs): VideoFormat {
  const video = resolveVideo(container, requested);
  const audio = resolveAudio(container, video?.codec ?? null, requested);
  if (!video && !audio) throw new FormatError(null, "The format disables both video and audio");
  const keepsMetadata = read(requested, "metadata", readSwitch("metadata")) ?? true;
  const fragmented = read(requested, "frag", readSwitch("frag")) ?? false;
  if (fragmented && !TRACK_CONTAINER_TRAITS[container].fragments) {
    const fragmentable = TRACK_CONTAINERS.filter((name) => TRACK_CONTAINER_TRAITS[name].fragments).join(", ");
    throw new FormatError("frag", `\`frag\` is not allowed: only ${fragmentable} support fragments`);
  }
  return { type: "video", container, video, audio, keepsMetadata, fragmented };
}
