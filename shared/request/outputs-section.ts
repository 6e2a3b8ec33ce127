// The `outputs` section of a job request: property names are formats, values one object of parameters or an array.
import * as z from "zod";
import { parseCondition } from "../condition.ts";
import { isConditionVariable } from "../condition-variables.ts";
import { type FormatSpec, parseFormat } from "../format/parse-format.ts";
import { counterOf, joinPath, objectName } from "../object-name.ts";
import type { OutputSpec } from "../output-spec.ts";
import { isCleanPath, isObject, type Parsed, parseSection, refuse } from "./parse-section.ts";

/** Outputs that one job may have (api-v2 §2, outputs_out_of_range). */
export const MAX_OUTPUTS = 30;
/** Pictures that one image output may have (api-v2 §5). */
export const MAX_IMAGES = 100;

/** Longest cut, a week: beyond any film, and within what numbers can say exactly. */
const MAX_SECONDS = 7 * 24 * 60 * 60;
/** Longest property name of `outputs`: all segments of the grammar fit several times. */
const MAX_FORMAT_CHARS = 200;

const key = z
  .string("must be a string")
  .regex(/^[\w:.=, -]{1,128}$/, "must be 1 to 128 letters, digits, spaces or any of _ : . = , -")
  .refine((value) => value !== "__proto__", "must be another name")
  .optional();
const path = z
  .string("must be the name of the file in the storage")
  .max(900, "at most 900 characters")
  .refine((value) => /[^/]$/.test(value), "must name a file")
  .transform((value) => joinPath("", value))
  .refine(isCleanPath, "must be a path without `.` or `..` parts");

const common = { key, path, if: z.string("must be a condition in a string").optional() };
const VideoParams = z.strictObject({
  ...common,
  duration: z
    .number("must be a number of seconds")
    .positive("must be more than 0 seconds")
    .max(MAX_SECONDS, `at most ${MAX_SECONDS} seconds`)
    .optional(),
});
const ImageParams = z.strictObject({
  ...common,
  number: z
    .int("must be a whole number")
    .min(1, "must be 1 or more")
    .max(MAX_IMAGES, `must be ${MAX_IMAGES} or less`)
    .default(1),
  square: z.boolean("must be true or false").default(false),
});

/** Parses the `outputs` section into complete specifications, in the order of the request. */
export function parseOutputs(value: unknown): Parsed<OutputSpec[]> {
  if (!isObject(value) || Object.keys(value).length === 0) {
    return refuse("outputs_not_valid", "`outputs` must be an object with at least one output, such as `mp4:720p`");
  }
  const outputs: OutputSpec[] = [];
  for (const [format, entry] of Object.entries(value)) {
    if (format.length > MAX_FORMAT_CHARS) {
      return refuse("output_format_not_valid", `An output's format has at most ${MAX_FORMAT_CHARS} characters`);
    }
    const isList = Array.isArray(entry);
    for (const [position, params] of (isList ? entry : [entry]).entries()) {
      const name = isList ? `${format}:${position + 1}` : format;
      if (!isObject(params)) {
        return refuse(
          "output_not_valid",
          `\`outputs.${name}\` must be an object of output parameters or an array of them`,
        );
      }
      const parsed = parseOutput(outputs.length, format, name, params);
      if (!parsed.ok) return parsed;
      outputs.push(parsed.value);
    }
  }
  if (outputs.length === 0) return refuse("outputs_not_valid", "`outputs` must hold at least one output");
  if (outputs.length > MAX_OUTPUTS) {
    return refuse("outputs_out_of_range", `A job has at most ${MAX_OUTPUTS} outputs, this one has ${outputs.length}`);
  }
  return uniqueNames(outputs);
}

function parseOutput(index: number, format: string, name: string, params: object): Parsed<OutputSpec> {
  const parsed = parseFormat(format);
  if (!parsed.ok) return refuse("output_format_not_valid", `\`outputs.${format}\`: ${parsed.message}`);
  const named = { index, format, name };
  const output =
    parsed.spec.kind === "video" ? parseVideo(named, parsed.spec, params) : parseImage(named, parsed.spec, params);
  return output.ok ? checkCondition(output.value, `outputs.${name}.if`) : output;
}

type Named = { index: number; format: string; name: string };
type Spec<Kind extends FormatSpec["kind"]> = Extract<FormatSpec, { kind: Kind }>;

function parseVideo({ name, ...base }: Named, spec: Spec<"video">, params: object): Parsed<OutputSpec> {
  const parsed = parseSection(VideoParams, params, `outputs.${name}`, "output_param_not_valid");
  if (!parsed.ok) return parsed;
  const { duration, key = name, path, if: condition = null } = parsed.value;
  const { container, video, audio } = spec;
  const durationMs = duration === undefined ? null : duration * 1000;
  return { ok: true, value: { ...base, type: "video", key, path, condition, container, video, audio, durationMs } };
}

function parseImage({ name, ...base }: Named, spec: Spec<"image">, params: object): Parsed<OutputSpec> {
  const field = `outputs.${name}`;
  const parsed = parseSection(ImageParams, params, field, "output_param_not_valid");
  if (!parsed.ok) return parsed;
  const { number, square, key = name, path, if: condition = null } = parsed.value;
  if (number > 1 && !counterOf(path)) {
    const message = `\`${field}.path\` needs a counter such as %02d, because \`number\` is ${number}`;
    return refuse("output_param_not_valid", message);
  }
  const { container, size } = spec;
  return { ok: true, value: { ...base, type: "image", key, path, condition, container, size, number, square } };
}

function checkCondition(output: OutputSpec, field: string): Parsed<OutputSpec> {
  if (output.condition === null) return { ok: true, value: output };
  const parsed = parseCondition(output.condition, isConditionVariable);
  if (parsed.ok) return { ok: true, value: output };
  return refuse("output_condition_not_valid", `\`${field}\`: ${parsed.message}`);
}

/** Refuses two outputs with one key, and two that would write one object. */
function uniqueNames(outputs: OutputSpec[]): Parsed<OutputSpec[]> {
  const keys = new Set<string>();
  const paths = new Map<string, string>();
  for (const output of outputs) {
    if (keys.has(output.key)) return refuse("output_key_not_unique", `Two outputs have the key \`${output.key}\``);
    keys.add(output.key);
    const count = output.type === "image" ? output.number : 1;
    for (let ordinal = 1; ordinal <= count; ordinal++) {
      const object = objectName(output.path, ordinal);
      const other = paths.get(object);
      if (other !== undefined) {
        return refuse(
          "output_path_not_unique",
          `The outputs \`${other}\` and \`${output.key}\` would both write \`${object}\``,
        );
      }
      paths.set(object, output.key);
    }
  }
  return { ok: true, value: outputs };
}
