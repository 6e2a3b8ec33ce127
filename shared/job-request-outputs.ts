// The `outputs` section of a job request: property names are formats, values one object of parameters or an array.
import * as z from "zod";
import { parseFormat } from "./format-spec.ts";
import { counterOf, objectName } from "./object-name.ts";
import type { OutputSpec } from "./output-spec.ts";
import { isCleanPath, isObject, type Parsed, parseSection, refuse } from "./parse-section.ts";

/** Outputs that one job may have (api-v2 §2, outputs_out_of_range). */
export const MAX_OUTPUTS = 30;
/** Pictures that one image output may have (api-v2 §5). */
export const MAX_IMAGES = 100;

const key = z
  .string("must be a string")
  .regex(/^[\w:.=, -]{1,128}$/, "must be 1 to 128 letters, digits, spaces or any of _ : . = , -")
  .optional();
const path = z
  .string("must be the name of the file in the storage")
  .max(900, "at most 900 characters")
  .transform((value) => value.replace(/^\/+/, ""))
  .refine((value) => value !== "" && !value.endsWith("/"), "must name a file")
  .refine(isCleanPath, "must be a path without `.` or `..` parts");

const VideoParams = z.strictObject({
  key,
  path,
  duration: z.number("must be a number of seconds").positive("must be more than 0 seconds").optional(),
});
const ImageParams = z.strictObject({
  key,
  path,
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
  const parsedFormat = parseFormat(format);
  if (!parsedFormat.ok) return refuse("output_format_not_valid", `\`outputs.${format}\`: ${parsedFormat.message}`);
  const { spec } = parsedFormat;
  const field = `outputs.${name}`;
  const base = { index, format };
  if (spec.kind === "video") {
    const parsed = parseSection(VideoParams, params, field, "output_param_not_valid");
    if (!parsed.ok) return parsed;
    const { duration, key = name, path } = parsed.value;
    const { container, video, audio } = spec;
    const durationMs = duration === undefined ? null : duration * 1000;
    return { ok: true, value: { ...base, type: "video", key, path, container, video, audio, durationMs } };
  }
  const parsed = parseSection(ImageParams, params, field, "output_param_not_valid");
  if (!parsed.ok) return parsed;
  const { number, square, key = name, path } = parsed.value;
  if (number > 1 && !counterOf(path)) {
    return refuse(
      "output_param_not_valid",
      `\`${field}.path\` needs a counter such as %02d, because \`number\` is ${number}`,
    );
  }
  return {
    ok: true,
    value: { ...base, type: "image", key, path, container: spec.container, size: spec.size, number, square },
  };
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
