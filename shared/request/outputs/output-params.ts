// Parameters that several types of outputs share (api-v2 §5).

import * as z from "zod";
import { FormatHash } from "../../format/format-hash.ts";
import { SOURCE_NAMES } from "../../job/metadata.ts";
import { counterOf, joinPath } from "../../job/object-name.ts";
import { WATERMARK_POSITIONS, type Watermark } from "../../job/output-spec.ts";
import { type AllowPrivate, checkUrl } from "../../network/address-policy.ts";
import { oneOf, PARAMETERS } from "../../parameters/parameter.ts";
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
export const url = z
  .string(required(": an http or https URL", "must be a string with a URL"))
  .max(MAX_URL_CHARS, `must have at most ${MAX_URL_CHARS} characters`);

const location = (what: string, example: string) =>
  z
    .string(required(`: the path of the ${what} in the storage, such as ${example}`, `must be the path of the ${what}`))
    .max(900, "must have at most 900 characters")
    .refine((value) => !V1_COUNTER.test(value), "must not contain `#num#`, which is API v1 syntax; use `%02d`");

const V1_COUNTER = /#num#/i;

/** The path of a file, below the path of the storage. */
const filePath = location("file", "video/720p.mp4")
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
  key: key
    .describe(
      "Identifies the output in responses, unique in the job; the format by default, in an array with its index from 1",
    )
    .register(PARAMETERS, { label: "Key", help: "Names the output in responses; the format by default" }),
  if: z
    .string("must be a string with a condition")
    .optional()
    .describe("The output is created only if this condition is true, such as `{{ input.width }} >= 1280`")
    .register(PARAMETERS, { label: "Only if", example: "{{ input.width }} >= 1280" }),
};

/** The parameter `path` of a file. */
export const fileParam = (description = "The path of the file in the storage") =>
  filePath
    .describe(description)
    .register(PARAMETERS, { label: "Path in the storage", example: "video/720p.mp4", first: true });

/** Hints for specs of a format that are given as parameters of the output. */
export const FORMAT_SPEC_HINTS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(FormatHash.shape).map((spec) => [
    spec,
    `it is a format spec: use \`"format":{"${spec}":…}\` or the name of the output`,
  ]),
);

/** Parameters of all outputs with a format. */
export const formatParams = {
  ...commonParams,
  format: FormatHash.optional().describe("Specs that override those in the name of the output"),
};

export const watermark = z
  .union(
    [
      z.literal(false),
      strictObject({
        url: url
          .describe("The http or https URL of the overlay image")
          .register(PARAMETERS, { label: "Watermark", example: "https://example.com/logo.png" }),
        position: oneOf(WATERMARK_POSITIONS).default("bottomright").register(PARAMETERS, { label: "Its corner" }),
      }),
    ],
    `must be false or an object with \`url\` and \`position\`, which is one of ${WATERMARK_POSITIONS.join(", ")}`,
  )
  .optional()
  .describe("An image to overlay on all frames")
  .register(PARAMETERS, { changesVideo: true, cli: false });

/** Returns the watermark; null if there is none. Rejects a URL that is not allowed. */
export function parseWatermark(
  value: z.infer<typeof watermark>,
  field: string,
  allow: AllowPrivate,
): Result<Watermark | null> {
  if (!value) return ok(null);
  const imageUrl = allowedUrl(value.url, `${field}.watermark.url`, allow);
  return imageUrl.ok ? ok({ ...value, url: imageUrl.value }) : imageUrl;
}

/** Returns the normalized URL, or an error that names the field. */
export function allowedUrl(text: string, field: string, allow: AllowPrivate): Result<string> {
  const checked = checkUrl(text, allow);
  return checked.ok ? ok(checked.value) : invalid("output_param_not_valid", `\`${field}\` ${checked.error}`);
}
