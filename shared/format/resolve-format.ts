// Completes the requested specs of a format with defaults, and rejects unsupported specs.
import { err, ok, type Result } from "../result.ts";
import {
  IMAGE_CONTAINER_TRAITS,
  isImageContainer,
  isTextContainer,
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
  type SpecName,
  VIDEO_SPECS,
} from "./grammar/requested-specs.ts";
import type { SplitFormat } from "./grammar/split-format.ts";
import { AUTOMATIC_RESOLUTION, BEST_QUALITY, MAX_ANIMATED_WIDTH } from "./presets.ts";
import { resolveAudio } from "./resolve-audio.ts";
import { resolveVideo } from "./resolve-video.ts";

/** `field` is the invalid spec, by its name in the hash; null for the format as a whole. */
export type InvalidFormat = { readonly message: string; readonly field: SpecName | null };

/** Completes a format, which may come from a parser that throws FormatError. */
export function resolveFormat(split: () => SplitFormat): Result<FormatSpec, InvalidFormat> {
  try {
    return ok(completed(split()));
  } catch (error) {
    if (error instanceof FormatError) return err({ message: error.message, field: error.spec });
    throw error;
  }
}

/** Completes a format. Throws FormatError with the allowed values in its message. */
function completed({ container, requested }: SplitFormat): FormatSpec {
  if (isTextContainer(container)) {
    rejectSpecs(requested, [...TRACK_SPECS, "resolution", "quality"], "a text format has no specs");
    return { type: "text", container };
  }
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
