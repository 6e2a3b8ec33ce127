// The `outputs` section of a job request: property names are formats, values one object of parameters or an array.

import { parseCondition } from "../../condition/condition.ts";
import { isConditionVariable } from "../../condition/condition-variables.ts";
import { FormatHash } from "../../format/format-hash.ts";
import type { FormatSpec } from "../../format/format-spec.ts";
import { parseFormat } from "../../format/parse-format.ts";
import { printFormat } from "../../format/print-format.ts";
import { MAX_FORMAT_CHARS } from "../../format/split-format.ts";
import type { OutputSpec } from "../../job/output-spec.ts";
import type { AllowPrivate } from "../../network/address-policy.ts";
import { shown } from "../../shown.ts";
import { isObject, type Parsed, parseSection, refuse } from "../parse-section.ts";
import { parseHttpStream } from "./httpstream-params.ts";
import { parseImage } from "./image-params.ts";
import type { Named } from "./output-params.ts";
import { checkUnique } from "./unique-outputs.ts";
import { parseVideo } from "./video-params.ts";

/** Outputs that one job may have (api-v2 §2, outputs_out_of_range). */
export const MAX_OUTPUTS = 30;

/** Parses the `outputs` section into complete specifications, in the order of the request. */
export function parseOutputs(value: unknown, allow: AllowPrivate): Parsed<OutputSpec[]> {
  if (!isObject(value)) {
    const fault =
      value === undefined ? "is missing: it is" : Array.isArray(value) ? "is a list; it must be" : "must be";
    const rule = 'an object whose names are formats, such as `{"mp4:720p":{"path":"720p.mp4"}}`';
    return refuse("outputs_not_valid", `\`outputs\` ${fault} ${rule}`);
  }
  const asked = Object.entries(value).flatMap(([format, entry]) =>
    Array.isArray(entry)
      ? entry.map((params: unknown, at) => ({ format, name: `${format}:${at + 1}`, params }))
      : [{ format, name: format, params: entry }],
  );
  if (asked.length === 0) return refuse("outputs_not_valid", "`outputs` must hold at least one output");
  if (asked.length > MAX_OUTPUTS) {
    return refuse("outputs_out_of_range", `A job has at most ${MAX_OUTPUTS} outputs, this one has ${asked.length}`);
  }
  const outputs: OutputSpec[] = [];
  for (const [index, { params, ...named }] of asked.entries()) {
    const output = parseOutput({ index, ...named }, params, allow);
    if (!output.ok) return output;
    outputs.push(output.value);
  }
  return checkUnique(outputs);
}

function parseOutput(named: Named, params: unknown, allow: AllowPrivate): Parsed<OutputSpec> {
  if (named.format.length > MAX_FORMAT_CHARS) {
    return refuse("output_format_not_valid", `An output's format has at most ${MAX_FORMAT_CHARS} characters`);
  }
  if (!isObject(params)) {
    const path = typeof params === "string" && params !== "" ? shown(params) : "720p.mp4";
    const example = `such as \`{"path":${JSON.stringify(path)}}\``;
    const message = `\`outputs.${named.name}\` must be an object of output parameters, ${example}, or an array of them`;
    return refuse("output_not_valid", message);
  }
  const output = parseKind(named, params, allow);
  return output.ok ? checkCondition(output.value, `outputs.${named.name}.if`) : output;
}

function parseKind(named: Named, params: Record<string, unknown>, allow: AllowPrivate): Parsed<OutputSpec> {
  if (named.format.toLowerCase() === "httpstream") return parseHttpStream(named, params, allow);
  const format = formatOf(named, params.format);
  if (!format.ok) return format;
  if (/^hls(?::|$)/i.test(named.format) && lacksExtension(params.path)) {
    return refuse("output_param_not_valid", `\`outputs.${named.name}.path\` ${NOT_A_STREAM}`);
  }
  const described = params.format === undefined ? named : { ...named, format: printFormat(format.value) };
  return format.value.type === "video"
    ? parseVideo(described, format.value, params, allow)
    : parseImage(described, format.value, params, allow);
}

/** `hls` is an old name of MPEG-TS, which those who want a stream do not mean. */
const NOT_A_STREAM =
  "has no extension: `hls` is one MPEG-TS file, such as film.ts; for a stream with playlists use `httpstream`, such as " +
  '`{"httpstream":{"hls":{"path":"hls"}}}`';

const lacksExtension = (path: unknown): boolean => typeof path === "string" && !/\.[^./]+$/.test(path);

/** The format that the property name and the `format` hash give together. */
function formatOf({ format, name }: Named, hash: unknown): Parsed<FormatSpec> {
  const field = `outputs.${name}.format`;
  const specs = parseSection(FormatHash.optional(), hash, field, "output_format_not_valid");
  if (!specs.ok) return specs;
  const parsed = parseFormat(format, specs.value);
  if (parsed.ok) return { ok: true, value: parsed.spec };
  const inHash = parsed.field !== null && specs.value && Object.hasOwn(specs.value, parsed.field);
  return refuse(
    "output_format_not_valid",
    `\`${inHash ? `${field}.${parsed.field}` : `outputs.${format}`}\`: ${parsed.message}`,
  );
}

function checkCondition(output: OutputSpec, field: string): Parsed<OutputSpec> {
  if (output.condition === null) return { ok: true, value: output };
  const parsed = parseCondition(output.condition, isConditionVariable);
  if (parsed.ok) return { ok: true, value: output };
  return refuse("output_condition_not_valid", `\`${field}\`: ${parsed.message}`);
}
