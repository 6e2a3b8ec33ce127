// Text in requests must be valid Unicode: JSON can escape half of a surrogate pair, which UTF-8 cannot represent.
import { fieldOf } from "./parse-section.ts";

/** The error message for such text. */
export const UNICODE_RULE = "must be valid Unicode text, without unpaired surrogates";

/** The path of a string or property name that is not well-formed Unicode; null when there is none. */
export function nonUnicodeField(section: string, value: unknown): string | null {
  // Not recursive: JSON may be nested deeper than the call stack.
  const waiting: { path: Path; value: unknown }[] = [{ path: null, value }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { path, value } = next;
    if (typeof value === "string" && !value.isWellFormed()) return fieldOf(section, namesOf(path));
    if (typeof value !== "object" || value === null) continue;
    for (const [name, member] of Object.entries(value).reverse()) {
      if (!name.isWellFormed()) return fieldOf(section, namesOf({ name, parent: path }));
      waiting.push({ path: { name, parent: path }, value: member });
    }
  }
  return null;
}

/** A path into a value, from its last name to its first; null is the value itself. */
type Path = { readonly name: string; readonly parent: Path } | null;

function namesOf(path: Path): string[] {
  const names: string[] = [];
  for (let at = path; at; at = at.parent) names.unshift(at.name);
  return names;
}
