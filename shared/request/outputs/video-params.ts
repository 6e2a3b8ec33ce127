// The parameters of one video or audio output (api-v2 §5).

import type { VideoFormat } from "../../format/format-spec.ts";
import type { VideoOutput } from "../../job/output-spec.ts";
import type { AllowPrivate } from "../../network/address-policy.ts";
import { strictObject } from "../../strict-object.ts";
import { type Parsed, parseSection, refuse } from "../parse-section.ts";
import {
  fileParams,
  filePath,
  flag,
  type Named,
  OF_THE_FORMAT,
  parsePicture,
  pictureParams,
  seconds,
} from "./output-params.ts";

/** What changes the picture, and so needs one that is encoded anew. */
const pictureChanges = {
  ...pictureParams,
  deinterlace: flag.optional().describe("Interlaced pictures are made whole"),
};

export const VideoParams = strictObject(
  {
    path: filePath.describe("File name in the storage"),
    ...fileParams,
    offset: seconds.min(0, "must be 0 or more").optional().describe("Where in the input it begins, in seconds"),
    duration: seconds.positive("must be more than 0 seconds").optional().describe("Length to cut it to, in seconds"),
    ...pictureChanges,
  },
  { elsewhere: OF_THE_FORMAT },
).describe("A file of picture and sound, or of either. What changes the picture is for pictures that are encoded anew");

export function parseVideo(
  { name, ...base }: Named,
  format: VideoFormat,
  params: object,
  allow: AllowPrivate,
): Parsed<VideoOutput> {
  const field = `outputs.${name}`;
  const parsed = parseSection(VideoParams, params, field, "output_param_not_valid");
  if (!parsed.ok) return parsed;
  const { key = name, path, if: condition = null, offset = 0, duration, deinterlace = false } = parsed.value;
  const without = !format.video
    ? "no picture"
    : format.video.codec === "copy"
      ? "a picture that is copied as it is"
      : null;
  const change = Object.entries(parsed.value).find(
    ([param, value]) => Object.hasOwn(pictureChanges, param) && value !== false,
  );
  if (without && change) {
    return refuse("output_param_not_valid", `\`${field}.${change[0]}\` is not possible: the output has ${without}`);
  }
  const picture = parsePicture(parsed.value, field, allow);
  if (!picture.ok) return picture;
  return {
    ok: true,
    value: {
      ...base,
      ...format,
      ...picture.value,
      ...{ key, path, condition, deinterlace },
      offsetMs: offset * 1000,
      durationMs: duration === undefined ? null : duration * 1000,
    },
  };
}
