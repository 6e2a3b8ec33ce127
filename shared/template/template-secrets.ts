// The secrets in a template. They are never returned, and only used for the place that they are for.
import { isUrlText, publicUrl } from "../job/metadata.ts";
import { isObject } from "../request/parse-section.ts";
import { valueAt, withValueAt } from "../request/value-at.ts";
import { literalPrefix, type Use, usesOf, wholeVariable } from "./variables.ts";

/** Names of secret fields. A field with a secret in a wrong place is secret, too. */
const SECRET = /^(?:credentials|headers|params)$|secret|password|token|api_?key|app_key/i;
const isSecret = (name: string, parent: string | undefined): boolean =>
  SECRET.test(name) || (name === "key" && parent === "encryption");

/** Fields that decide where a section leads, and who receives its secrets. */
const TARGET = [
  "use",
  "type",
  "service",
  "endpoint",
  "url",
  "bucket",
  "bucket_id",
  "account_id",
  "container",
  "topic_arn",
];

type Path = readonly string[];
type Hidden = { readonly value: unknown; readonly leftOut: readonly Path[] };

/** Returns a value without its secrets, and the paths of the fields that are missing or lack a secret part. */
export function hideSecrets(value: unknown, path: Path = []): Hidden {
  if (typeof value === "string") {
    const text = isUrlText(value) ? publicUrl(value) : value;
    return { value: text, leftOut: text === value ? [] : [path] };
  }
  if (typeof value !== "object" || value === null) return { value, leftOut: [] };
  const hidden = Object.entries(value).map(([name, member]) => {
    const place = [...path, name];
    if (isSecret(name, path.at(-1))) return { name, value: undefined, leftOut: [place] };
    return { name, ...hideSecrets(member, place) };
  });
  const leftOut = hidden.flatMap((member) => member.leftOut);
  if (Array.isArray(value)) return { value: hidden.map((member) => member.value), leftOut };
  const members = hidden.filter((member) => member.value !== undefined);
  return { value: Object.fromEntries(members.map((member) => [member.name, member.value])), leftOut };
}

/** The same for a template, whose defaults of variables may be secrets. */
export function hideTemplateSecrets(template: unknown): Hidden {
  const { value, leftOut } = hideSecrets(template);
  if (!isObject(value) || !isObject(value.vars)) return { value, leftOut };
  const secret = new Set(usesOf(template).flatMap((use) => (isSecretUse(use, leftOut) ? [use.name] : [])));
  const [hidden, entries] = [Object.keys(value.vars).filter((name) => secret.has(name)), Object.entries(value.vars)];
  const vars = Object.fromEntries(entries.filter(([name]) => !secret.has(name)));
  return { value: { ...value, vars }, leftOut: [...leftOut, ...hidden.map((name) => ["vars", name])] };
}

/** True if the string of a variable, or an object around it, is left out completely or in part. */
const isSecretUse = ({ path }: Pick<Use, "path">, leftOut: readonly Path[]): boolean =>
  leftOut.some((hidden) => hidden.every((name, at) => name === path[at]));

/**
 * Returns a new version of a template with the secrets of the previous version that it lacks. A secret is kept if the
 * section around it has the same target, so that it is never sent elsewhere by a client that does not know it.
 */
export function keepSecrets<Body>(next: Body, previous: unknown): Body {
  const withSecrets = hideTemplateSecrets(previous).leftOut.reduce<unknown>((body, path) => {
    const secret = valueAt(previous, path);
    if (path[0] === "vars" && !hasSameUses(path[1] ?? "", body, previous)) return body;
    const [current, around] = [valueAt(body, path), valueAt(body, path.slice(0, -1))];
    if (typeof secret === "string" && current === publicUrl(secret)) return withValueAt(body, path, secret);
    const isSame = isObject(around) && movedField(valueAt(previous, path.slice(0, -1)), around, TARGET) === null;
    return current === undefined && isSame ? withValueAt(body, path, secret) : body;
  }, next);
  return withSecrets as Body;
}

/** True if all strings with a variable are the same, and so are the targets of the objects around them. */
const hasSameUses = (variable: string, next: unknown, previous: unknown): boolean =>
  usesOf(next).every(({ name, path }) => {
    if (name !== variable || path[0] === "vars") return true;
    const around = path.map((_, depth) => path.slice(0, depth));
    const isSame = (place: Path): boolean =>
      movedField(valueAt(previous, place), Object(valueAt(next, place)), TARGET) === null;
    return valueAt(next, path) === valueAt(previous, path) && around.every(isSame);
  });

/** Fields whose hosts receive the secrets beside them. */
const HOSTS = ["url", "endpoint"];

type Placed = { readonly value: unknown; readonly moved: readonly string[] };
/** A section of a template, and the same section after the replacement of variables by values of `vars` or defaults. */
type Filled = { readonly section: unknown; readonly filled: unknown; readonly vars: object };

/**
 * A filled section without the template's secrets beside a URL that variables lead to another origin or folder than
 * the text before them. `moved`: the fields with such URLs.
 */
export function secretsInPlace({ section, filled, vars }: Filled, path: Path = []): Placed {
  if (typeof section === "string") {
    const isMoved = isUrlText(section) && isLedAway(section, filled);
    const value = isMoved ? publicUrl(String(filled)) : filled;
    return { value, moved: value === filled ? [] : [path.join(".")] };
  }
  if (typeof section !== "object" || section === null) return { value: filled, moved: [] };
  const host = HOSTS.find((field) => isLedAway(valueAt(section, [field]), valueAt(filled, [field])));
  const members = Object.entries(section).map(([name, member]) => {
    const isLeftOut = host !== undefined && isSecret(name, path.at(-1)) && !isFrom(vars, member);
    if (isLeftOut) return { name, value: undefined, moved: [[...path, host].join(".")] };
    return { name, ...secretsInPlace({ section: member, filled: valueAt(filled, [name]), vars }, [...path, name]) };
  });
  const moved = [...new Set(members.flatMap((member) => member.moved))];
  if (Array.isArray(section)) return { value: members.map(({ value }) => value), moved };
  const remaining = members.filter(({ value }) => value !== undefined);
  return { value: Object.fromEntries(remaining.map(({ name, value }) => [name, value])), moved };
}

/** True if all of a value comes from the request's `vars`, so that it is no secret of the template. */
function isFrom(vars: object, value: unknown): boolean {
  if (typeof value === "string") return Object.hasOwn(vars, wholeVariable(value) ?? "");
  return typeof value === "object" && value !== null && Object.values(value).every((member) => isFrom(vars, member));
}

/** True if the variables of a URL lead it away from the origin and the folder of the text before them. */
function isLedAway(text: unknown, filled: unknown): boolean {
  if (typeof text !== "string" || literalPrefix(text) === null) return false;
  // A variable may also be the user or the password.
  const place = text.replace(/^([a-z]+:\/\/)[^/?#\\]*@/i, "$1");
  // Without the start of a segment, which the variable may complete to `..`.
  const prefix = (literalPrefix(place) ?? place).replace(/^([a-z]+:\/\/[^?#\\]+\/)[^/?#]*$/i, "$1");
  if (typeof filled !== "string" || !URL.canParse(prefix) || !URL.canParse(filled)) return true;
  const [from, to] = [new URL(prefix), new URL(filled)];
  const folder = from.pathname.slice(0, from.pathname.lastIndexOf("/") + 1);
  return from.origin !== to.origin || !to.pathname.startsWith(folder);
}

/**
 * The section of a template for a request that changes fields of it: without secrets if the request leads it to
 * another target. Then `moved` is the changed field.
 */
export function sectionFor(section: unknown, changes: unknown): { section: unknown; moved: string | null } {
  const named = isObject(changes) ? TARGET.filter((field) => Object.hasOwn(changes, field)) : [];
  const moved = isObject(changes) && isObject(section) ? movedField(section, changes, named) : null;
  if (moved === null) return { section, moved };
  const { value, leftOut } = hideSecrets(section);
  return { section: value, moved: leftOut.length > 0 ? moved : null };
}

/** The first of the fields that differs; null if all are the same. URLs of the same origin count as the same. */
const movedField = (from: unknown, to: object, fields: readonly string[]): string | null =>
  fields.find((field) => targetAt(from, field) !== targetAt(to, field)) ?? null;

function targetAt(section: unknown, field: string): string {
  const value = valueAt(section, [field]) ?? null;
  return typeof value === "string" && URL.canParse(value) ? new URL(value).origin : JSON.stringify(value);
}
