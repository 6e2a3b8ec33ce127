// Changes members of a request. Members that the form does not know stay as they are.
import { isObject, type Json } from "../secrets.ts";

export { isObject };

export type Path = readonly (string | number)[];

const isIndex = (name: string | number | undefined): boolean => /^\d+$/.test(String(name));

/** The value at a path; undefined if there is none. The name of a member of a list is that member of its first item. */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((found, name) => {
    if (Array.isArray(found)) return isIndex(name) ? found[Number(name)] : valueAt(found[0], [name]);
    return isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }, value);
}

/**
 * A copy with another value at a path, as `valueAt` reads it. Undefined removes the member, and objects that become
 * empty with it. A value in the path that cannot have members is replaced.
 */
export function withValue(object: Json, path: Path, value: unknown): Json {
  const [name, ...rest] = path;
  if (name === undefined) return object;
  const entries = new Map(Object.entries(object));
  const key = String(name);
  const before = entries.get(key);
  const inner = (item: unknown): Json => withValue(isObject(item) ? item : {}, rest, value);
  const isList = Array.isArray(before) && !isIndex(rest[0]);
  const next = rest.length === 0 ? value : isList ? [inner(before[0]), ...before.slice(1)] : inner(before);
  const isEmpty = rest.length > 0 && value === undefined && isObject(next) && Object.keys(next).length === 0;
  if (next === undefined || isEmpty) entries.delete(key);
  else entries.set(key, next);
  return Object.fromEntries(entries);
}

/** A text in a request: numbers and booleans as text, `""` for other values. */
export const textAt = (value: unknown, path: Path): string => {
  const present = valueAt(value, path);
  return typeof present === "string" || typeof present === "number" || typeof present === "boolean"
    ? String(present)
    : "";
};
