// Outputs must not meet: neither in their keys nor in the objects that they write.
import type { Failure } from "../../errors.ts";
import type { OutputSpec } from "../../job/output-spec.ts";
import { type Parsed, refuse } from "../parse-section.ts";
import { commonObject, type Written, writtenBy } from "./output-objects.ts";

/**
 * Refuses two outputs with one key, and two that would write one object or package into one folder. Outputs that each
 * have a condition may share a path: which of them are made is known when the input is (`pathClashes`).
 */
export function checkUnique(outputs: OutputSpec[]): Parsed<OutputSpec[]> {
  const keys = new Set<string>();
  const earlier: Places[] = [];
  for (const output of outputs) {
    const { key } = output;
    if (keys.has(key)) return refuse("output_key_not_unique", `Two outputs have the key \`${key}\``);
    keys.add(key);
    const places = placesOf(output);
    const twice = repeatedObject(places.written);
    if (twice !== null) return refusePath(`The output \`${key}\` would twice write \`${twice}\``);
    for (const other of earlier) {
      const shared = other.isConditional && places.isConditional ? null : sharedPlace(places, other);
      if (shared) return refusePath(`The outputs \`${other.key}\` and \`${key}\` would both write ${shared}${HINT}`);
    }
    earlier.push(places);
  }
  return { ok: true, value: outputs };
}

const HINT = "; give each a path of its own, or each an `if` that excludes the other";

/** An output that would write what an earlier one writes, with the reason. */
export type PathClash = { readonly output: number; readonly failure: Failure };

/** Of outputs that are all to be made, those that clash with one before them, which is made. */
export function pathClashes(wanted: readonly OutputSpec[]): PathClash[] {
  const made: Places[] = [];
  const clashes: PathClash[] = [];
  for (const output of wanted) {
    const places = placesOf(output);
    const clash = made
      .map((other) => ({ other: other.key, shared: sharedPlace(places, other) }))
      .find(({ shared }) => shared !== null);
    if (!clash) made.push(places);
    else {
      const message = `The output would write ${clash.shared} as the output \`${clash.other}\` does: the \`if\` of both holds for this input; make them exclude each other, or give each a path of its own`;
      clashes.push({ output: output.index, failure: { code: "output_path_not_unique", message } });
    }
  }
  return clashes;
}

/** Where an output writes. */
type Places = {
  readonly key: string;
  readonly isConditional: boolean;
  readonly folders: readonly string[];
  readonly written: readonly Written[];
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

/** What two outputs would both write, in words; null when they do not meet. */
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

/** An object that one output would write twice; null when there is none. */
function repeatedObject(written: readonly Written[]): string | null {
  for (const [at, objects] of written.entries()) {
    for (const others of written.slice(0, at)) {
      const object = commonObject(objects, others);
      if (object !== null) return object;
    }
  }
  return null;
}

const refusePath = (message: string): Parsed<never> => refuse("output_path_not_unique", message);
