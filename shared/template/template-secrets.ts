// The secrets in a template. They are never returned, and only used for the place that they are for.
import { publicUrl } from "../job/metadata.ts";
import { isObject } from "../request/parse-section.ts";
import { valueAt, withValueAt } from "../request/value-at.ts";

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
    const shown = /^https?:/i.test(value) ? publicUrl(value) : value;
    return { value: shown, leftOut: shown === value ? [] : [path] };
  }
  if (typeof value !== "object" || value === null) return { value, leftOut: [] };
  const hidden = Object.entries(value).map(([name, member]) => {
    const place = [...path, name];
    if (isSecret(name, path.at(-1))) return { name, value: undefined, leftOut: [place] };
    return { name, ...hideSecrets(member, place) };
  });
  const leftOut = hidden.flatMap((member) => member.leftOut);
  if (Array.isArray(value)) return { value: hidden.map((member) => member.value), leftOut };
  const shown = hidden.filter((member) => member.value !== undefined);
  return { value: Object.fromEntries(shown.map((member) => [member.name, member.value])), leftOut };
}

/**
 * Returns a new version of a template with the secrets of the previous version that it lacks. A secret is kept if the
 * section around it has the same target, so that it is never sent elsewhere by a client that does not know it.
 */
export function keepSecrets<Body>(next: Body, previous: unknown): Body {
  const kept = hideSecrets(previous).leftOut.reduce<unknown>((body, path) => {
    const secret = valueAt(previous, path);
    const [given, around] = [valueAt(body, path), valueAt(body, path.slice(0, -1))];
    if (typeof secret === "string" && given === publicUrl(secret)) return withValueAt(body, path, secret);
    const isSame = isObject(around) && movedField(valueAt(previous, path.slice(0, -1)), around, TARGET) === null;
    return given === undefined && isSame ? withValueAt(body, path, secret) : body;
  }, next);
  return kept as Body;
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
