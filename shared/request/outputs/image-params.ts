// Parameters of an image output (api-v2 §5).

import * as z from "zod";
import { IMAGE_CONTAINER_TRAITS } from "../../format/containers.ts";
import type { ImageFormat } from "../../format/format-spec.ts";
import { counterOf, joinPath } from "../../job/object-name.ts";
import { imageFileCount } from "../../job/output-files.ts";
import type { FrameSelection, ImageOutput } from "../../job/output-spec.ts";
import type { AllowPrivate } from "../../network/address-policy.ts";
import { PARAMETERS, valuesOf, whole } from "../../parameters/parameter.ts";
import { frameParameters, imageParameters } from "../../parameters/plain-parameters.ts";
import { ok, type Result } from "../../result.ts";
import { strictObject } from "../../strict-object.ts";
import { cleanPath } from "../clean-path.ts";
import { invalid, parseSection } from "../parse-section.ts";
import { burn, parseBurn } from "./burn.ts";
import { frameConflict } from "./frame-conflict.ts";
import { fileParam, formatParams, type Named, parseWatermark, seconds, watermark } from "./output-params.ts";
import { overlays, parseOverlays } from "./overlays.ts";

/** Maximum number of images of an output by `number` or `offsets`, and of images on a sprite sheet (api-v2 §5). */
const MAX_IMAGES = 100;
const MAX_SPRITE_IMAGES = 1000;
const DEFAULT_COLUMNS = 4;
const MAX_SCENES = 10;
const MAX_SCENE_SECONDS = 5;

const vttName = z
  .string("must be a file name")
  .max(200, "must have at most 200 characters")
  .regex(/^[^/%]+\.vtt$/i, "must be a file name that ends in .vtt, without a folder")
  .check(cleanPath);

/** Accepts `true` for an object of defaults and `false` for null. */
const onOff = <Defaults>(defaults: Defaults) => z.boolean().transform((on) => (on ? defaults : null));

/**
 * Parameters of still images, and of animated images (gif, webp_anim). An output has only the parameters of its kind.
 */
const still = {
  number: whole(1, MAX_IMAGES)
    .optional()
    .describe(`Number of images, spread evenly over the duration: 1 to ${MAX_IMAGES}`)
    .register(PARAMETERS, { label: "Number of images", help: "Spread evenly", first: true, forms: ["image"] }),
  offsets: z
    .array(seconds.min(0, "must be 0 or more"), "must be a list of numbers of seconds")
    .min(1, "must contain at least one offset")
    .max(MAX_IMAGES, `must have at most ${MAX_IMAGES} offsets`)
    .optional()
    .describe("The timestamps of the images, in seconds")
    .register(PARAMETERS, {
      label: "At",
      example: "1, 10, 30",
      help: "Seconds. Instead of a number",
      forms: ["image"],
      cli: false,
    }),
  interval: seconds
    .min(0, "must be 0 or more")
    .optional()
    .describe("One image every so many seconds; 0 chooses 2 to 30 by the length of the input")
    .register(PARAMETERS, { label: "Every", help: "Seconds; 0 is automatic. Instead of a number", forms: ["image"] }),
  sprite: z
    .union(
      [
        onOff({ limit: undefined, columns: DEFAULT_COLUMNS }),
        strictObject({
          limit: whole(1, MAX_SPRITE_IMAGES).optional().describe("Maximum images on one sprite sheet; all by default"),
          columns: whole(1, MAX_IMAGES).default(DEFAULT_COLUMNS),
        }),
      ],
      "must be true, false or an object with the whole numbers `limit` and `columns`",
    )
    .optional()
    .describe("Combine the images into sprite sheets")
    .register(PARAMETERS, { label: "Sprite sheets", forms: ["image"], cli: false }),
  vtt: z
    .union(
      [onOff({ filename: undefined }), strictObject({ filename: vttName.optional() })],
      "must be true, false or an object with `filename`, a name that ends in .vtt",
    )
    .optional()
    .describe("Create a WebVTT file that maps timestamps to images")
    .register(PARAMETERS, { label: "WebVTT file for seek bars", forms: ["image"] }),
};
const animated = {
  scene: strictObject({
    number: whole(1, MAX_SCENES)
      .default(1)
      .describe(`Number of scenes, 1 to ${MAX_SCENES}`)
      .register(PARAMETERS, { label: "Scenes", first: true }),
    duration: seconds
      .positive("must be more than 0 seconds")
      .max(MAX_SCENE_SECONDS, `must be at most ${MAX_SCENE_SECONDS} seconds`)
      .default(MAX_SCENE_SECONDS)
      .describe("Length of each scene, in seconds")
      .register(PARAMETERS, { label: "Length of each", help: "Seconds" }),
  })
    .optional()
    .describe("Scenes of a gif or webp_anim, spread evenly over the duration")
    .register(PARAMETERS, { forms: ["animated"], cli: false }),
};

export const ImageParams = strictObject({
  path: fileParam(
    "The path of the file in the storage, with a counter such as `%02d` if there may be more than one file",
  ),
  ...formatParams,
  ...still,
  ...animated,
  ...imageParameters,
  burn,
  overlays,
  ...frameParameters,
  watermark,
}).describe(
  "Images from the video. At most one of `number`, `offsets` and `interval` is allowed. Animated formats have `scene`, " +
    "and none of `number`, `offsets`, `interval`, `sprite` and `vtt`",
);
type ImageParams = z.infer<typeof ImageParams>;

export function parseImage(
  { name, ...base }: Named,
  format: ImageFormat,
  params: object,
  allow: AllowPrivate,
): Result<ImageOutput> {
  const field = `outputs.${name}`;
  const parsed = parseSection(ImageParams, params, field, "output_param_not_valid");
  if (!parsed.ok) return parsed;
  const { key = name, path, if: condition = null, sprite, vtt } = parsed.value;
  const misplaced = misplacedParam(format, parsed.value);
  if (misplaced) return invalid("output_param_not_valid", `\`${field}.${misplaced.param}\` ${misplaced.why}`);
  const conflict = frameConflict(parsed.value, [format.size]);
  if (conflict) return invalid("output_param_not_valid", `\`${field}${conflict}`);
  const overlay = parseWatermark(parsed.value.watermark, field, allow);
  if (!overlay.ok) return overlay;
  const burnt = parseBurn(parsed.value.burn, field, allow);
  if (!burnt.ok) return burnt;
  const drawn = parseOverlays(parsed.value.overlays, field, allow);
  if (!drawn.ok) return drawn;
  const output: ImageOutput = {
    ...base,
    ...format,
    ...valuesOf({ ...frameParameters, ...imageParameters }, parsed.value),
    watermark: overlay.value,
    ...burnt.value,
    ...drawn.value,
    key,
    path,
    condition,
    selection: selectionOf(format, parsed.value),
    sprite: sprite ? { limit: sprite.limit ?? null, columns: sprite.columns } : null,
    vtt: vtt ? { path: vttPath(path, vtt.filename) } : null,
  };
  const count = imageFileCount(output);
  if (count === 1 || counterOf(path)) return ok(output);
  const files = count === null ? "there may be more than one file" : `there are ${count} files`;
  return invalid("output_param_not_valid", `\`${field}.path\` must contain a counter such as %02d, because ${files}`);
}

/** Returns a parameter that this output does not support, with the reason; null if there is none. */
function misplacedParam({ container }: ImageFormat, params: ImageParams): { param: string; why: string } | null {
  const names = Object.keys(params);
  const [own, others] = IMAGE_CONTAINER_TRAITS[container].animated ? [animated, still] : [still, animated];
  const foreign = names.find((param) => Object.hasOwn(others, param));
  if (foreign)
    return { param: foreign, why: `is not supported by ${container}; supported: ${Object.keys(own).join(", ")}` };
  const [, second] = names.filter((param) => ["number", "offsets", "interval"].includes(param));
  return second
    ? { param: second, why: "is not allowed here; use only one of `number`, `offsets` and `interval`" }
    : null;
}

function selectionOf(format: ImageFormat, params: ImageParams): FrameSelection {
  const { number = 1, offsets, interval, scene = { number: 1, duration: MAX_SCENE_SECONDS } } = params;
  if (IMAGE_CONTAINER_TRAITS[format.container].animated) {
    return { by: "scenes", number: scene.number, durationMs: scene.duration * 1000 };
  }
  if (offsets) return { by: "offsets", offsetsMs: offsets.map((offset) => offset * 1000) };
  if (interval !== undefined) return { by: "interval", intervalMs: interval === 0 ? null : interval * 1000 };
  return { by: "number", number };
}

/** Returns a path in the folder of the images. The default name is the images' name without counter and extension. */
function vttPath(path: string, filename: string | undefined): string {
  const [file = "", ...folders] = path
    .replace(counterOf(path) ?? "", "")
    .split("/")
    .reverse();
  const stem = file.replace(/\.[^.]*$/, "").replace(/(?<![-_. ])[-_. ]+$/, "");
  return joinPath(folders.reverse().join("/"), filename ?? `${stem || "images"}.vtt`);
}
