// Parameters that outputs of several kinds have (api-v2 §5), and what is needed to read those of one output.
import * as z from "zod";
import { FormatHash } from "../../format/format-hash.ts";
import { SOURCE_NAMES } from "../../job/metadata.ts";
import { counterOf, joinPath } from "../../job/object-name.ts";
import { FITS, WATERMARK_POSITIONS } from "../../job/output-spec.ts";
import { nearest } from "../../nearest.ts";
import { type AllowPrivate, checkUrl } from "../../network/address-policy.ts";
import { strictObject } from "../../strict-object.ts";
import { cleanPath } from "../clean-path.ts";
import { needed, type Parsed, refuse } from "../parse-section.ts";

/** An output as the request names it. */
export type Named = {
  index: number;
  /** The property name in `outputs`, or the canonical text of the `format` hash. */
  format: string;
  /** The key that it gets when it asks for none. */
  name: string;
};

/** Longest time, a week: beyond any film, and within what numbers can say exactly. */
const MAX_SECONDS = 7 * 24 * 60 * 60;
const MAX_URL_CHARS = 2000;

export const seconds = z
  .number(needed(": a number of seconds", "must be a number of seconds"))
  .max(MAX_SECONDS, `at most ${MAX_SECONDS} seconds`);
export const flag = z.boolean("must be true or false");
export const url = z
  .string(needed(": an http or https URL", "must be a URL in a string"))
  .max(MAX_URL_CHARS, `at most ${MAX_URL_CHARS} characters`);

export const whole = (min: number, max: number) =>
  z.int("must be a whole number").min(min, `must be ${min} or more`).max(max, `must be ${max} or less`);

export const oneOf = <Word extends string>(words: readonly Word[]) =>
  z.enum(words, { error: ({ input }) => `${meantByChoice(input, words)}must be one of ${words.join(", ")}` });

/** What a value that is none of these may have meant. */
const meantByChoice = (given: unknown, words: readonly string[]): string => {
  const meant = typeof given === "string" ? nearest(given.replaceAll(/[-_ ]/g, ""), words) : null;
  return meant === null ? "" : `did you mean \`${meant}\`? It `;
};

const location = (what: string, example: string) =>
  z
    .string(needed(`: the name of the ${what} in the storage, such as ${example}`, `must be the name of the ${what}`))
    .max(900, "at most 900 characters")
    .refine((value) => !V1_COUNTER.test(value), "`#num#` is of API v1; write `%02d`");

const V1_COUNTER = /#num#/i;

/** The object of a file, below the storage's own path. */
export const filePath = location("file", "film/720p.mp4")
  .refine((value) => /[^/]$/.test(value), "must name a file")
  .transform((value) => joinPath("", value))
  .check(cleanPath);

/** A folder below the storage's own path; empty for that path itself. */
export const folderPath = location("folder", "film/hls")
  .refine((value) => counterOf(value) === null, "must be without a counter")
  .transform((value) => joinPath("", value))
  .check(cleanPath);

const key = z
  .string("must be a string")
  .regex(/^[\w:.=, -]{1,128}$/, "must be 1 to 128 letters, digits, spaces or any of _ : . = , -")
  .refine((value) => value !== "__proto__", "must be another name")
  .refine((value) => !SOURCE_NAMES.has(value), "must be another name: `input` and `source` mean the job's input")
  .optional();

/** Of every output. */
export const commonParams = {
  key: key.describe("Names the output in answers, unlike any other of the job; when it is left out, the format does"),
  if: z
    .string("must be a condition in a string")
    .optional()
    .describe("The output is made only if this condition holds, such as `{{ input.width }} >= 1280`"),
};

/** Where the specs of a format belong, for those who write them beside it. */
export const OF_THE_FORMAT: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(FormatHash.shape).map((spec) => [
    spec,
    `it is of the format: \`"format":{"${spec}":…}\`, or a word of the output's name`,
  ]),
);

/** Of every output that is a file or a set of files. */
export const fileParams = {
  ...commonParams,
  format: FormatHash.optional().describe("Specs that take the place of those in the output's name"),
};

const TRANSPOSE_RULE = "must be 0 to 3, no angle: 1 is 90° clockwise, 2 is 90° counterclockwise";

/** Of every output that shows a picture. */
export const pictureParams = {
  fit: oneOf(FITS).optional().describe("How a picture of another shape gets into its box: pad (default) or crop"),
  transpose: z
    .int(TRANSPOSE_RULE)
    .min(0, TRANSPOSE_RULE)
    .max(3, TRANSPOSE_RULE)
    .optional()
    .describe("Quarter turn: 0 left and flipped, 1 right, 2 left, 3 right and flipped"),
  vflip: flag.optional().describe("Upside down"),
  hflip: flag.optional().describe("Left and right exchanged"),
  watermark: z
    .union(
      [
        z.literal(false),
        strictObject({
          url: url.describe("http(s) URL of the picture"),
          position: oneOf(WATERMARK_POSITIONS).default("bottomright"),
        }),
      ],
      `must be false or an object of \`url\` and \`position\`, which is one of ${WATERMARK_POSITIONS.join(", ")}`,
    )
    .optional()
    .describe("A picture laid over all others"),
};

type PictureParams = z.infer<z.ZodObject<typeof pictureParams>>;

/** The picture parameters with their defaults; refuses a watermark from an address that is not allowed. */
export function parsePicture(params: PictureParams, field: string, allow: AllowPrivate) {
  const { fit = "pad", transpose = null, vflip = false, hflip = false } = params;
  const plain = { fit, transpose, vflip, hflip };
  if (!params.watermark) return { ok: true as const, value: { ...plain, watermark: null } };
  const address = allowedUrl(params.watermark.url, `${field}.watermark.url`, allow);
  if (!address.ok) return address;
  return { ok: true as const, value: { ...plain, watermark: { ...params.watermark, url: address.value } } };
}

/** The URL in its normal form, or a refusal that names the field. */
export function allowedUrl(text: string, field: string, allow: AllowPrivate): Parsed<string> {
  const checked = checkUrl(text, allow);
  return checked.ok
    ? { ok: true, value: checked.url }
    : refuse("output_param_not_valid", `\`${field}\`: ${checked.reason}`);
}
