// Outputs must not meet: neither in their keys nor in the objects that they write.
import type { OutputSpec } from "../output-spec.ts";
import { type Parsed, refuse } from "./parse-section.ts";
import { commonObject, type Written, writtenBy } from "./written-objects.ts";

/** Refuses two outputs with one key, and two that would write one object or package into one folder. */
export function checkUnique(outputs: OutputSpec[]): Parsed<OutputSpec[]> {
  const keys = new Set<string>();
  const folders = new Map<string, string>();
  const written: (Written & { key: string })[] = [];
  for (const output of outputs) {
    const { key } = output;
    if (keys.has(key)) return refuse("output_key_not_unique", `Two outputs have the key \`${key}\``);
    keys.add(key);
    for (const folder of foldersOf(output)) {
      const other = folders.get(folder) ?? key;
      if (other !== key) return refusePath(other, key, `segments into the folder \`${folder}\``);
      folders.set(folder, key);
    }
    for (const objects of writtenBy(output)) {
      for (const other of written) {
        const object = commonObject(objects, other);
        if (object !== null) return refusePath(other.key, key, `\`${object}\``);
      }
      written.push({ ...objects, key });
    }
  }
  return { ok: true, value: outputs };
}

function foldersOf(output: OutputSpec): string[] {
  if (output.type !== "httpstream") return [];
  return [output.hls, output.dash].flatMap((package_) => (package_ ? [package_.path] : []));
}

function refusePath(one: string, other: string, what: string): Parsed<never> {
  const who =
    one === other ? `The output \`${one}\` would twice` : `The outputs \`${one}\` and \`${other}\` would both`;
  return refuse("output_path_not_unique", `${who} write ${what}`);
}
