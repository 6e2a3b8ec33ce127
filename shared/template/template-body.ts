// Parses the body of PUT /v2/templates/:name: a job in which sections may be missing, and strings have variables.

import { excerpt } from "../excerpt.ts";
import { invalid, isObject, parseStrictly } from "../request/parse-section.ts";
import { nonUnicodeField, UNICODE_RULE } from "../request/unicode.ts";
import { ok, type Result } from "../result.ts";
import { unknownField } from "../strict-object.ts";
import { IngestBody } from "./bucket-events.ts";
import { isTooDeep } from "./merge-patch.ts";
import { misplacedVariable, usesOf, VARIABLE_NAME } from "./variables.ts";

/** Sections of a job in a template. */
export const TEMPLATE_SECTIONS = ["input", "storage", "outputs", "notification", "settings", "tags"] as const;

/** A template: the sections of a job, with variables, and default values of variables. */
export type TemplateBody = Readonly<Record<string, unknown>>;

export const MAX_TEMPLATE_BYTES = 64 * 2 ** 10;
/** Names of templates: letters, digits, `_`, `.` and `-`. */
export const TEMPLATE_NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Reports the first error with the name of the field. Values are validated with each job. */
export function parseTemplate(body: unknown): Result<TemplateBody> {
  const refuse = (message: string) => invalid("template_not_valid", message);
  if (!isObject(body)) return refuse("A template must be a JSON object with sections of a job");
  const nonUnicode = nonUnicodeField("", body);
  if (nonUnicode !== null) return refuse(`\`${nonUnicode}\` ${UNICODE_RULE}`);
  if (isTooDeep(body)) return refuse("The template is nested too deeply");
  const known = [...TEMPLATE_SECTIONS, "vars", "ingest"];
  const unknown = Object.keys(body).find((name) => !known.includes(name));
  if (unknown !== undefined) return refuse(`The template ${unknownField(unknown, known)}`);
  const { vars = {}, ingest = {}, ...sections } = body;
  const filters = parseStrictly({ schema: IngestBody, value: ingest, path: "ingest", code: "template_not_valid" });
  if (!filters.ok) return filters;
  const misplaced = misplacedVariable(sections);
  if (misplaced !== null) {
    return refuse(
      `\`${misplaced}\` must have variables only in values, as \`{{ vars.name }}\` with letters, digits and _`,
    );
  }
  if (!isObject(vars)) return refuse("`vars` must be an object with default values of variables");
  const used = new Set(usesOf(sections).map(({ name }) => name));
  const wrong = Object.keys(vars).find((name) => !used.has(name) || vars[name] === null || !VARIABLE_NAME.test(name));
  if (wrong === undefined) return ok(body);
  const why = used.has(wrong)
    ? "must not be null"
    : `is in no string of the template as \`{{ vars.${excerpt(wrong)} }}\``;
  return refuse(`\`vars.${excerpt(wrong)}\` ${why}`);
}
