// Outputs must have different keys and must not write the same objects.

import type { Failure } from "../../errors.ts";
import type { OutputSpec } from "../../job/output-spec.ts";
import { ok, type Result } from "../../result.ts";
import { invalid } from "../parse-section.ts";
import { commonObject, type WrittenObjects, writtenBy } from "./output-objects.ts";

/**
 * Rejects outputs with the same key, and outputs that would write the same object or package into the same folder. Two
 * outputs with conditions may share a path, because only the input decides which of them are created (`pathConflicts`).
 */
export function checkUnique(outputs: OutputSpec[]): Result<OutputSpec[]> {
  const keys = new Set(outputs.flatMap(({ alias = [] }) => alias));
  const earlier: Places[] = [];
  for (const output of outputs) {
    const { key } = output;
    if (keys.has(key))
      return invalid("output_key_not_unique", `Two outputs have the key \`${key}\`; give each output a unique \`key\``);
    keys.add(key);
    const places = placesOf(output);
    const twice = repeatedObject(places.written);
    if (twice !== null)
      return invalidPath(`The output \`${key}\` would write \`${twice}\` twice; give each file a different path`);
    for (const other of earlier) {
      const shared = other.isConditional && places.isConditional ? null : sharedPlace(places, other);
      if (shared) return invalidPath(`The outputs \`${other.key}\` and \`${key}\` would both write ${shared}${HINT}`);
    }
    earlier.push(places);
  }
  return ok(outputs);
}

const HINT = "; give them different paths, or conditions (`if`) that exclude each other";

/** An output that would write the same object as an earlier output, with the reason. */
export type PathConflict = { readonly output: number; readonly failure: Failure };

/** Returns the outputs of `wanted` that conflict with an earlier output. The earlier output is created. */
export function pathConflicts(wanted: readonly OutputSpec[]): PathConflict[] {
  const created: Places[] = [];
  const conflicts: PathConflict[] = [];
  for (const output of wanted) {
    const places = placesOf(output);
    const conflict = created
      .map((other) => ({ other: other.key, shared: sharedPlace(places, other) }))
      .find(({ shared }) => shared !== null);
    if (!conflict) created.push(places);
    else {
      const message = `The output would write ${conflict.shared}, as the output \`${conflict.other}\` does: the conditions of both are true for this input; use conditions that exclude each other, or different paths`;
      conflicts.push({ output: output.index, failure: { code: "output_path_not_unique", message } });
    }
  }
  return conflicts;
}

/** Folders and objects that an output writes. */
type Places = {
  readonly key: string;
  readonly isConditional: boolean;
  readonly folders: readonly string[];
  readonly written: readonly WrittenObjects[];
};

const placesOf = (output: OutputSpec): Places => ({
  key: output.key,
  isConditional: output.condition !== null,
  folders: foldersOf(output),
  written: writtenBy(output),
});

function foldersOf(output: OutputSpec): string[] {
  if (output.type !== "httpstream") return [];
  return [output.hls, output.dash].flatMap((package_) => (package_ ? [package_.path] : []));
}

/** Returns a description of the objects that two outputs would both write; null if they write different objects. */
function sharedPlace(one: Places, other: Places): string | null {
  const folder = one.folders.find((path) => other.folders.includes(path));
  if (folder !== undefined) return `segments into the folder \`${folder}\``;
  for (const objects of one.written) {
    for (const others of other.written) {
      const object = commonObject(objects, others);
      if (object !== null) return `\`${object}\``;
    }
  }
  return null;
}

/** Returns an object that an output would write twice; null if there is none. */
function repeatedObject(written: readonly WrittenObjects[]): string | null {
  for (const [at, objects] of written.entries()) {
    for (const others of written.slice(0, at)) {
      const object = commonObject(objects, others);
      if (object !== null) return object;
    }
  }
  return null;
}

const invalidPath = (message: string): Result<never> => invalid("output_path_not_unique", message);
