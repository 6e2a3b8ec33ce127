// JSON Merge Patch (RFC 7396): the sections of a request over those of a template.
import { isObject } from "../request/parse-section.ts";

/**
 * Returns the target with a patch: members of objects replace members of the same name, null removes a member, and
 * lists are replaced (RFC 7396 §2). Recursive: limit the depth before.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

/** Nesting of a request with a template. Real jobs have about six levels. */
const MAX_DEPTH = 32;

/** True if a value is nested deeper than recursive functions should follow. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    level = level.flatMap((member) => (typeof member === "object" && member !== null ? Object.values(member) : []));
    if (level.length === 0) return false;
  }
  return true;
}
