// Parameters that several types of outputs share (api-v2 §5).

import * as z from "zod";
import { FormatHash } from "../../format/format-hash.ts";
import { SOURCE_NAMES } from "../../job/metadata.ts";
import { counterOf, joinPath } from "../../job/object-name.ts";
import { CAPTIONS, FITS, WATERMARK_POSITIONS } from "../../job/output-spec.ts";
import { nearest } from "../../nearest.ts";
import { type AllowPrivate, checkUrl } from "../../network/address-policy.ts";
import { ok, type Result } from "../../result.ts";
import { strictObject } from "../../strict-object.ts";
import { cleanPath } from "../clean-path.ts";
import { invalid, required } from "../parse-section.ts";

/** Names of an output in the request. */
export type Named = {
  index: number;
  /** The property name in `outputs`, or the canonical text of the `format` hash. */
  format: string;
  /** Key of an output without a `key` parameter. */
  name: string;
};

/** Maximum time: a week. It is longer than any source, and exact in milliseconds. */
const MAX_SECONDS = 7 * 24 * 60 * 60;
const MAX_URL_CHARS = 2000;

export const seconds = z
  .number(required(": a number of seconds", "must be a number of seconds"))
  .max(MAX_SECONDS, `must be at most ${MAX_SECONDS} seconds`);
export const flag = z.boolean("must be true or false");
export const url = z
  .string(required(": an http or https URL", "must be a string with a URL"))
  .max(MAX_URL_CHARS, `must have at most ${MAX_URL_CHARS} characters`);

export const whole = (min: number, max: number) =>
  z.int("must be a whole number").min(min, `must be ${min} or more`).max(max, `must be ${max} or less`);

export const oneOf = <Choice extends string>(choices: readonly Choice[]) =>
  z.enum(choices, { error: ({ input }) => `must be one of ${choices.join(", ")}${suggestionFor(input, choices)}` });

const suggestionFor = (given: unknown, choices: readonly string[]): string => {
  const meant = typeof given === "string" ? nearest(given.replaceAll(/[-_ ]/g, ""), choices) : null;
  return meant === null ? "" : `; did you mean \`${meant}\`?`;
};

const location = (what: string, example: string) =>
  z
    .string(required(`: the path of the ${what} in the storage, such as ${example}`, `must be the path of the ${what}`))
    .max(900, "must have at most 900 characters")
    .refine((value) => !V1_COUNTER.test(value), "must not contain `#num#`, which is API v1 syntax; use `%02d`");

const V1_COUNTER = /#num#/i;

/** The path of a file, below the path of the storage. */
export const filePath = location("file", "video/720p.mp4")
  .refine((value) => /[^/]$/.test(value), "must be the path of a file, not of a folder")
  .transform((value) => joinPath("", value))
  .check(cleanPath);

/** A folder below the path of the storage; empty for the path itself. */
export const folderPath = location("folder", "video/hls")
  .refine((value) => counterOf(value) === null, "must not contain a counter such as %02d")
  .transform((value) => joinPath("", value))
  .check(cleanPath);

const key = z
  .string("must be a string")
  .regex(/^[\w:.=, -]{1,128}$/, "must have 1 to 128 characters: letters, digits, spaces and _ : . = , -")
  .refine((value) => value !== "__proto__", "must not be `__proto__`")
  .refine((value) => !SOURCE_NAMES.has(value), "must not be `input` or `source`, which mean the input of the job")
  .optional();

/** Parameters of all outputs. */
export const commonParams = {
  key: key.describe(
    "Identifies the output in responses, unique in the job; the format by default, in an array with its index from 1",
  ),
  if: z
    .string("must be a string with a condition")
    .optional()
    .describe("The output is created only if this condition is true, such as `{{ input.width }} >= 1280`"),
};

/** Hints for specs of a format that are given as parameters of the output. */
export const FORMAT_SPEC_HINTS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(FormatHash.shape).map((spec) => [
    spec,
    `it is a format spec: use \`"format":{"${spec}":…}\` or the name of the output`,
  ]),
);

/** Parameters of all outputs that are files. */
export const fileParams = {
  ...commonParams,
  format: FormatHash.optional().describe("Specs that override those in the name of the output"),
};

const TRANSPOSE_RULE = "must be 0 to 3, not an angle: 1 is 90° clockwise, 2 is 90° counterclockwise";

/** Parameters of all outputs with video or images. */
export const videoFilterParams = {
  fit: oneOf(FITS)
    .optional()
    .describe("How to fit video of another aspect ratio into the output size: pad (default) or crop"),
  transpose: z
    .int(TRANSPOSE_RULE)
    .min(0, TRANSPOSE_RULE)
    .max(3, TRANSPOSE_RULE)
    .optional()
    .describe(
      "Rotation by 90°: 0 counterclockwise and flipped, 1 clockwise, 2 counterclockwise, 3 clockwise and flipped",
    ),
  vflip: flag.optional().describe("Flip vertically"),
  hflip: flag.optional().describe("Flip horizontally"),
  watermark: z
    .union(
      [
        z.literal(false),
        strictObject({
          url: url.describe("The http or https URL of the overlay image"),
          position: oneOf(WATERMARK_POSITIONS).default("bottomright"),
        }),
      ],
      `must be false or an object with \`url\` and \`position\`, which is one of ${WATERMARK_POSITIONS.join(", ")}`,
    )
    .optional()
    .describe("An image to overlay on all frames"),
};

export const captions = oneOf(CAPTIONS)
  .default("keep")
  .describe(
    "Closed captions inside of the input's video (CEA-608 and CEA-708): keep (default) copies them where the encoder " +
      "supports it, and announces them in streams",
  );

type VideoFilterParams = z.infer<z.ZodObject<typeof videoFilterParams>>;

/** Returns the filter parameters with their defaults. Rejects a watermark whose URL is not allowed. */
export function parseVideoFilters(params: VideoFilterParams, field: string, allow: AllowPrivate) {
  const { fit = "pad", transpose = null, vflip = false, hflip = false } = params;
  const plain = { fit, transpose, vflip, hflip };
  if (!params.watermark) return ok({ ...plain, watermark: null });
  const imageUrl = allowedUrl(params.watermark.url, `${field}.watermark.url`, allow);
  if (!imageUrl.ok) return imageUrl;
  return ok({ ...plain, watermark: { ...params.watermark, url: imageUrl.value } });
}

/** Returns the normalized URL, or an error that names the field. */
export function allowedUrl(text: string, field: string, allow: AllowPrivate): Result<string> {
  const checked = checkUrl(text, allow);
  return checked.ok ? ok(checked.value) : invalid("output_param_not_valid", `\`${field}\` ${checked.error}`);
}
