// Changes members of a request. Members that the form does not know stay as they are.
import { isObject, type Json } from "../secrets.ts";

export { isObject };

export type Path = readonly (string | number)[];

/** The value at a path; undefined if there is none. */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((found, name) => {
    if (Array.isArray(found)) return found[Number(name)];
    return isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }, value);
}

/**
 * A copy with another value at a path. Undefined removes the member, and objects that become empty with it. A value in
 * the path that cannot have members is replaced.
 */
export function withValue(object: Json, path: Path, value: unknown): Json {
  const [name, ...rest] = path;
  if (name === undefined) return object;
  const entries = new Map(Object.entries(object));
  const key = String(name);
  const before = entries.get(key);
  const next = rest.length === 0 ? value : withValue(isObject(before) ? before : {}, rest, value);
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
