// Makes the body of a job from a template and a request. Pure.
import type { Failure } from "../errors.ts";
import { excerpt } from "../excerpt.ts";
import { fieldOf, invalid, isObject } from "../request/parse-section.ts";
import { valueAt } from "../request/value-at.ts";
import { ok, type Result } from "../result.ts";
import { isTooDeep, mergePatch } from "./merge-patch.ts";
import { TEMPLATE_SECTIONS, type TemplateBody } from "./template-body.ts";
import { secretsInPlace, sectionFor } from "./template-secrets.ts";
import { substitute, type Use, usesOf } from "./variables.ts";

/** A version of a template. */
export type Template = { readonly name: string; readonly version: number; readonly body: TemplateBody };

/** The template of a job, such as `web@3`. */
export const templateRef = ({ name, version }: Pick<Template, "name" | "version">): string => `${name}@${version}`;

/** Maximum size of a body after the replacement of variables: that of any job. */
const MAX_BYTES = 2 ** 20;

export type Expanded = {
  /** The body for `parseJobRequest`. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Completes an error about the body: it names the template. */
  readonly inTemplate: (failure: Failure) => Failure;
};

/**
 * Replaces the variables of the template by `vars` of the request, and merges the request's other members over it.
 * `vars` of the template are defaults.
 */
export function expandTemplate(template: Template, request: Readonly<Record<string, unknown>>): Result<Expanded> {
  const ref = templateRef(template);
  if (isTooDeep(request)) return invalid("json_not_valid", "The body is nested too deeply");
  const { template: _, vars = {}, ...changes } = request;
  const { vars: defaults, ...sections } = template.body;
  const uses = usesOf(sections);
  const problem = isObject(vars) ? varsProblem(uses, isObject(defaults) ? defaults : {}, vars) : VARS_RULE;
  if (problem !== null) return invalid("template_vars_not_valid", `${problem} (template \`${ref}\`)`);
  const values = new Map(Object.entries({ ...(isObject(defaults) ? defaults : {}), ...(isObject(vars) ? vars : {}) }));
  if (sizeOf(sections, uses, values) > MAX_BYTES) {
    return invalid("body_too_large", `The job is larger than 1 MiB with its \`vars\` (template \`${ref}\`)`);
  }
  const filled = substitute(sections, values);
  const chosen = TEMPLATE_SECTIONS.map((name) => {
    const bound = secretsInPlace({ section: sections[name], filled: valueAt(filled, [name]), vars: Object(vars) });
    const { section, moved } = sectionFor(bound.value, changes[name]);
    return { name, section, moved: moved === null ? bound.moved : [moved] };
  });
  const base = Object.fromEntries(
    chosen.flatMap(({ name, section }) => (section === undefined ? [] : [[name, section]])),
  );
  const body = mergePatch(base, changes);
  const moved = chosen.flatMap(({ name, moved }) => moved.map((field) => `\`${name}.${field}\``));
  const note =
    moved.length === 0 ? "" : `; the template's secrets are not used, because the request changes ${moved.join(", ")}`;
  const inTemplate = ({ code, message }: Failure): Failure => ({
    code,
    message: `${message.replace(/\.$/, "")} (template \`${ref}\`${note})`,
  });
  return ok({ body: isObject(body) ? body : {}, inTemplate });
}

const VARS_RULE = "`vars` must be an object with the values of variables";

/** The sentence about the first variable that is missing, unused or of the wrong type; null if all are valid. */
function varsProblem(uses: readonly Use[], defaults: object, vars: Readonly<Record<string, unknown>>): string | null {
  const names = new Set(uses.map(({ name }) => name));
  const unused = Object.keys(vars).find((name) => !names.has(name));
  if (unused !== undefined) {
    const known = names.size === 0 ? "it has no variables" : `its variables: ${[...names].join(", ")}`;
    return `\`vars.${excerpt(unused)}\` is not used; ${known}`;
  }
  const values: Readonly<Record<string, unknown>> = { ...defaults, ...vars };
  for (const { name, path, within } of uses) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    const field = fieldOf("", path);
    if (value === undefined) return `\`vars.${name}\` is missing; \`${field}\` needs it`;
    if (value === null) return `\`vars.${name}\` must not be null`;
    const problem = within === "nothing" ? null : valueProblem(value, within);
    if (problem !== null) return `\`vars.${name}\` must ${problem}, because it is within ${within} in \`${field}\``;
  }
  return null;
}

/** The rule that a value breaks; null if it may stand within such a text. */
function valueProblem(value: unknown, within: Use["within"]): string | null {
  if (typeof value === "object") return "be a string, number or boolean";
  const text = String(value);
  const isClimbing = text.split("/").some((segment) => segment === "." || segment === "..");
  if (within === "a URL" && isClimbing) return "not have the segments `.` or `..`";
  if (within === "quotes of a condition" && /['"]/.test(text)) return "not have quotes";
  const isLiteral = typeof value !== "string" || /^(?:-?\d+(?:\.\d+)?|true|false)$/.test(text);
  return within === "a condition" && !isLiteral
    ? "be a number or boolean, or have quotes around it in the template"
    : null;
}

/** Upper bound of the size in JSON: a value counts at each of its uses. */
function sizeOf(sections: object, uses: readonly Use[], values: ReadonlyMap<string, unknown>): number {
  const sizes = new Map([...values].map(([name, value]) => [name, JSON.stringify(value).length]));
  return uses.reduce((sum, { name }) => sum + (sizes.get(name) ?? 0), JSON.stringify(sections).length);
}
