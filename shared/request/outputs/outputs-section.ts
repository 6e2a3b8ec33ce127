// The `outputs` section of a job request. Property names are formats; values are an object of parameters or an array.

import { isConditionVariable } from "../../condition/condition-variables.ts";
import { parseCondition } from "../../condition/parse-condition.ts";
import { assertNever } from "../../errors.ts";
import { excerpt } from "../../excerpt.ts";
import { FormatHash } from "../../format/format-hash.ts";
import type { FormatSpec } from "../../format/format-spec.ts";
import { MAX_FORMAT_CHARS } from "../../format/grammar/split-format.ts";
import { parseFormat } from "../../format/parse-format.ts";
import { printFormat } from "../../format/print-format.ts";
import type { OutputSpec } from "../../job/output-spec.ts";
import type { AllowPrivate } from "../../network/address-policy.ts";
import { ok, type Result } from "../../result.ts";
import { invalid, isObject, parseSection } from "../parse-section.ts";
import { parseImage } from "./image-params.ts";
import type { Named } from "./output-params.ts";
import { parseHttpStream } from "./parse-httpstream.ts";
import { parseText } from "./text-params.ts";
import { checkUnique } from "./unique-outputs.ts";
import { parseVideo } from "./video-params.ts";

/** Maximum number of outputs of a job (api-v2 §2, outputs_out_of_range). */
export const MAX_OUTPUTS = 30;

/** `alias`: the second key of a single object. */
type Requested = { format: string; name: string; alias?: string; params: unknown };

/** Parses the `outputs` section into complete specifications, in the order of the request. */
export function parseOutputs(value: unknown, allow: AllowPrivate): Result<OutputSpec[]> {
  if (!isObject(value)) {
    const verb =
      value === undefined ? "is missing; it must be" : Array.isArray(value) ? "is a list; it must be" : "must be";
    const rule = 'an object whose property names are formats, such as `{"mp4:720p":{"path":"720p.mp4"}}`';
    return invalid("outputs_not_valid", `\`outputs\` ${verb} ${rule}`);
  }
  const count = Object.values(value).reduce<number>((sum, entry) => sum + (Array.isArray(entry) ? entry.length : 1), 0);
  if (count === 0) return invalid("outputs_not_valid", "`outputs` must contain at least one output");
  if (count > MAX_OUTPUTS) {
    const message = `\`outputs\` must contain at most ${MAX_OUTPUTS} outputs, not ${count}`;
    return invalid("outputs_out_of_range", message);
  }
  const requested = Object.entries(value).flatMap(([format, entry]): Requested[] =>
    Array.isArray(entry)
      ? entry.map((params: unknown, at) => ({ format, name: `${format}:${at + 1}`, params }))
      : [{ format, name: format, alias: `${format}:1`, params: entry }],
  );
  const outputs: OutputSpec[] = [];
  for (const [index, { params, alias, ...named }] of requested.entries()) {
    const output = parseOutput({ index, ...named }, params, allow);
    if (!output.ok) return output;
    const hasOwnKey = isObject(params) && params.key !== undefined;
    outputs.push(alias === undefined || hasOwnKey ? output.value : { ...output.value, alias });
  }
  return checkUnique(outputs);
}

function parseOutput(named: Named, params: unknown, allow: AllowPrivate): Result<OutputSpec> {
  if (named.format.length > MAX_FORMAT_CHARS) {
    return invalid(
      "output_format_not_valid",
      `The format of an output must have at most ${MAX_FORMAT_CHARS} characters`,
    );
  }
  if (!isObject(params)) {
    const path = typeof params === "string" && params !== "" ? excerpt(params) : "720p.mp4";
    const example = `such as \`{"path":${JSON.stringify(path)}}\``;
    const message = `\`outputs.${named.name}\` must be an object of output parameters, ${example}, or an array of them`;
    return invalid("output_not_valid", message);
  }
  const output = parseKind(named, params, allow);
  return output.ok ? checkCondition(output.value, `outputs.${named.name}.if`) : output;
}

function parseKind(named: Named, params: Record<string, unknown>, allow: AllowPrivate): Result<OutputSpec> {
  if (named.format.toLowerCase() === "httpstream") return parseHttpStream(named, params, allow);
  const format = formatOf(named, params.format);
  if (!format.ok) return format;
  if (/^hls(?::|$)/i.test(named.format) && lacksExtension(params.path)) {
    return invalid("output_param_not_valid", `\`outputs.${named.name}.path\` ${NOT_A_STREAM}`);
  }
  const described = params.format === undefined ? named : { ...named, format: printFormat(format.value) };
  switch (format.value.type) {
    case "video":
      return parseVideo(described, format.value, params, allow);
    case "image":
      return parseImage(described, format.value, params, allow);
    case "text":
      return parseText(described, format.value, params, allow);
    default:
      return assertNever(format.value);
  }
}

/** `hls` is an old name of MPEG-TS. Clients who want a stream use it by mistake. */
const NOT_A_STREAM =
  "must have an extension: `hls` is one MPEG-TS file, such as video.ts; for a stream with playlists use `httpstream`, such as " +
  '`{"httpstream":{"hls":{"path":"hls"}}}`';

const lacksExtension = (path: unknown): boolean => typeof path === "string" && !/\.[^./]+$/.test(path);

/** Returns the format from the property name and the `format` hash. */
function formatOf({ format, name }: Named, hash: unknown): Result<FormatSpec> {
  const field = `outputs.${name}.format`;
  const specs = parseSection(FormatHash.optional(), hash, field, "output_format_not_valid");
  if (!specs.ok) return specs;
  const parsed = parseFormat(format, specs.value);
  if (parsed.ok) return ok(parsed.value);
  const inHash = parsed.error.field !== null && specs.value && Object.hasOwn(specs.value, parsed.error.field);
  return invalid(
    "output_format_not_valid",
    `\`${inHash ? `${field}.${parsed.error.field}` : `outputs.${format}`}\`: ${parsed.error.message}`,
  );
}

function checkCondition(output: OutputSpec, field: string): Result<OutputSpec> {
  if (output.condition === null) return ok(output);
  const parsed = parseCondition(output.condition, isConditionVariable);
  if (parsed.ok) return ok(output);
  return invalid("output_condition_not_valid", `\`${field}\`: ${parsed.error}`);
}
