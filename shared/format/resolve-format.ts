// From what was asked for to a complete format: defaults filled in, and whatever cannot be made refused.
import {
  type AskedSpecs,
  FILE_SPECS,
  FormatError,
  PICTURE_SPECS,
  read,
  refuseSpecs,
  SOUND_SPECS,
} from "./asked-specs.ts";
import {
  IMAGE_CONTAINER_TRAITS,
  isImageContainer,
  TRACK_CONTAINER_TRAITS,
  TRACK_CONTAINERS,
  type TrackContainer,
} from "./containers.ts";
import type { FormatSpec, ImageFormat, VideoFormat } from "./format-spec.ts";
import { AUTOMATIC_RESOLUTION, MAX_MOVING_WIDTH } from "./presets.ts";
import { readResolution, readSwitch } from "./read-specs.ts";
import { resolveAudio } from "./resolve-audio.ts";
import { resolveVideo } from "./resolve-video.ts";
import type { SplitFormat } from "./split-format.ts";

/** Completes a format. Throws FormatError, whose message says what is possible. */
export function resolveFormat({ container, asked }: SplitFormat): FormatSpec {
  return isImageContainer(container) ? resolveImage(container, asked) : resolveTracks(container, asked);
}

const NOT_OF_IMAGES = [...PICTURE_SPECS, ...SOUND_SPECS, ...FILE_SPECS].filter((spec) => spec !== "resolution");

function resolveImage(container: ImageFormat["container"], asked: AskedSpecs): ImageFormat {
  refuseSpecs(asked, NOT_OF_IMAGES, "an image format has a `resolution` only");
  const { size } = read(asked, "resolution", readResolution) ?? AUTOMATIC_RESOLUTION;
  if (IMAGE_CONTAINER_TRAITS[container].moves && (size.width ?? 0) > MAX_MOVING_WIDTH) {
    throw new FormatError(
      "resolution",
      `A ${container} is at most ${MAX_MOVING_WIDTH} pixels wide, this one would be ${size.width}`,
    );
  }
  return { type: "image", container, size };
}

function resolveTracks(container: TrackContainer, asked: AskedSpecs): VideoFormat {
  const video = resolveVideo(container, asked);
  const audio = resolveAudio(container, video?.codec ?? null, asked);
  if (!video && !audio) throw new FormatError(null, "The format switches off both picture and sound");
  const keepsMetadata = read(asked, "metadata", readSwitch("metadata")) ?? true;
  const fragmented = read(asked, "frag", readSwitch("frag")) ?? false;
  if (fragmented && !TRACK_CONTAINER_TRAITS[container].fragments) {
    const can = TRACK_CONTAINERS.filter((name) => TRACK_CONTAINER_TRAITS[name].fragments).join(", ");
    throw new FormatError("frag", `\`frag\` is not possible: only ${can} can be written in fragments`);
  }
  return { type: "video", container, video, audio, keepsMetadata, fragmented };
}
