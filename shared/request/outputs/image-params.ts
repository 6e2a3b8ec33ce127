// The parameters of one image output (api-v2 §5).
import * as z from "zod";
import { IMAGE_CONTAINER_TRAITS } from "../../format/containers.ts";
import type { ImageFormat } from "../../format/format-spec.ts";
import { counterOf, joinPath } from "../../job/object-name.ts";
import { imageFileCount } from "../../job/output-files.ts";
import type { ImageOutput, PictureSelection } from "../../job/output-spec.ts";
import type { AllowPrivate } from "../../network/address-policy.ts";
import { strictObject } from "../../strict-object.ts";
import { cleanPath } from "../clean-path.ts";
import { type Parsed, parseSection, refuse } from "../parse-section.ts";
import {
  fileParams,
  filePath,
  flag,
  type Named,
  parsePicture,
  pictureParams,
  seconds,
  whole,
} from "./output-params.ts";

/** Pictures that one output may ask for by number or by offsets, and that a sheet may hold (api-v2 §5). */
const MAX_IMAGES = 100;
const MAX_SPRITE_IMAGES = 1000;
const DEFAULT_COLUMNS = 4;
const MAX_SCENES = 10;
const MAX_SCENE_SECONDS = 5;

const vttName = z
  .string("must be a file name")
  .max(200, "at most 200 characters")
  .regex(/^[^/%]+\.vtt$/i, "must be a file name that ends in .vtt, without folders")
  .check(cleanPath);

/** `true` stands for an object of defaults, `false` for none. */
const onOff = <Defaults>(defaults: Defaults) => z.boolean().transform((on) => (on ? defaults : null));

/** Parameters of pictures that stand still, and of pictures that move (gif, webp_anim): an output has one sort of them. */
const still = {
  number: whole(1, MAX_IMAGES)
    .optional()
    .describe(`How many pictures, evenly spread over the duration: 1 to ${MAX_IMAGES}`),
  offsets: z
    .array(seconds.min(0, "must be 0 or more"), "must be a list of seconds")
    .min(1, "must hold at least one offset")
    .max(MAX_IMAGES, `at most ${MAX_IMAGES} offsets`)
    .optional()
    .describe("The moments to show, in seconds"),
  interval: seconds
    .min(0, "must be 0 or more")
    .optional()
    .describe("A picture every so many seconds; 0 is automatic, 2 to 30 by the input's length"),
  sprite: z
    .union(
      [
        onOff({ limit: undefined, columns: DEFAULT_COLUMNS }),
        strictObject({
          limit: whole(1, MAX_SPRITE_IMAGES).optional().describe("Pictures on one sheet at most; all when left out"),
          columns: whole(1, MAX_IMAGES).default(DEFAULT_COLUMNS),
        }),
      ],
      "must be true, false or an object of the whole numbers `limit` and `columns`",
    )
    .optional()
    .describe("The pictures laid out on sheets"),
  vtt: z
    .union(
      [onOff({ filename: undefined }), strictObject({ filename: vttName.optional() })],
      "must be true, false or an object of `filename`, a name that ends in .vtt",
    )
    .optional()
    .describe("A WebVTT file beside the pictures that says which shows what moment"),
};
const moving = {
  scene: strictObject({
    number: whole(1, MAX_SCENES).default(1).describe(`How many scenes, 1 to ${MAX_SCENES}`),
    duration: seconds
      .positive("must be more than 0 seconds")
      .max(MAX_SCENE_SECONDS, `at most ${MAX_SCENE_SECONDS} seconds`)
      .default(MAX_SCENE_SECONDS)
      .describe("Length of each in seconds"),
  })
    .optional()
    .describe("Scenes of a gif or webp_anim, evenly spread over the duration"),
};

export const ImageParams = strictObject({
  path: filePath.describe("File name in the storage, with a counter such as `%02d` when more than one file may result"),
  ...fileParams,
  ...still,
  ...moving,
  square: flag.default(false).describe("The centre square of the picture"),
  blur: whole(1, 5).optional().describe("1 to 5, 5 strongest"),
  ...pictureParams,
}).describe(
  "Images out of the picture: only one of `number`, `offsets` and `interval` can be given. Containers that move have " +
    "`scene`, and none of `number`, `offsets`, `interval`, `sprite` and `vtt`",
);
type ImageParams = z.infer<typeof ImageParams>;

export function parseImage(
  { name, ...base }: Named,
  format: ImageFormat,
  params: object,
  allow: AllowPrivate,
): Parsed<ImageOutput> {
  const field = `outputs.${name}`;
  const parsed = parseSection(ImageParams, params, field, "output_param_not_valid");
  if (!parsed.ok) return parsed;
  const { key = name, path, if: condition = null, square, blur = null, sprite, vtt } = parsed.value;
  const misplaced = misplacedParam(format, parsed.value);
  if (misplaced) return refuse("output_param_not_valid", `\`${field}.${misplaced.param}\` ${misplaced.why}`);
  const picture = parsePicture(parsed.value, field, allow);
  if (!picture.ok) return picture;
  const output: ImageOutput = {
    ...base,
    ...format,
    ...picture.value,
    ...{ key, path, condition, square, blur },
    selection: selectionOf(format, parsed.value),
    sprite: sprite ? { limit: sprite.limit ?? null, columns: sprite.columns } : null,
    vtt: vtt ? { path: vttPath(path, vtt.filename) } : null,
  };
  const count = imageFileCount(output);
  if (count === 1 || counterOf(path)) return { ok: true, value: output };
  const files = count === null ? "more than one file may result" : `${count} files result`;
  return refuse("output_param_not_valid", `\`${field}.path\` needs a counter such as %02d, because ${files}`);
}

/** A parameter that this output cannot have, with the reason; null when there is none. */
function misplacedParam({ container }: ImageFormat, params: ImageParams): { param: string; why: string } | null {
  const given = Object.keys(params);
  const [own, others] = IMAGE_CONTAINER_TRAITS[container].moves ? [moving, still] : [still, moving];
  const foreign = given.find((param) => Object.hasOwn(others, param));
  if (foreign) return { param: foreign, why: `is not for ${container}, which has: ${Object.keys(own).join(", ")}` };
  const [, second] = given.filter((param) => ["number", "offsets", "interval"].includes(param));
  return second ? { param: second, why: "is one too many: number, offsets and interval exclude each other" } : null;
}

function selectionOf(format: ImageFormat, params: ImageParams): PictureSelection {
  const { number = 1, offsets, interval, scene = { number: 1, duration: MAX_SCENE_SECONDS } } = params;
  if (IMAGE_CONTAINER_TRAITS[format.container].moves) {
    return { by: "scenes", number: scene.number, durationMs: scene.duration * 1000 };
  }
  if (offsets) return { by: "offsets", offsetsMs: offsets.map((offset) => offset * 1000) };
  if (interval !== undefined) return { by: "interval", intervalMs: interval === 0 ? null : interval * 1000 };
  return { by: "number", number };
}

/** Beside the pictures; without a name of its own it is called as they are, but for counter and extension. */
function vttPath(path: string, filename: string | undefined): string {
  const [file = "", ...folders] = path
    .replace(counterOf(path) ?? "", "")
    .split("/")
    .reverse();
  const stem = file.replace(/\.[^.]*$/, "").replace(/[-_. ]+$/, "");
  return joinPath(folders.reverse().join("/"), filename ?? `${stem || "images"}.vtt`);
}
