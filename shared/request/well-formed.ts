// Text of a request must be text: JSON can say half of a surrogate pair, which no UTF-8 can.
import { fieldOf } from "./parse-section.ts";

/** What the refusal of such text says. */
export const UNICODE_RULE = "must be text in Unicode, without halves of characters";

/** The path of a string or property name that is no well-formed Unicode; null when there is none. */
export function illFormedField(section: string, value: unknown): string | null {
  // JSON may be nested deeper than functions may call themselves.
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

/** A way down into a value, from its end; null is the value itself. */
type Path = { readonly name: string; readonly parent: Path } | null;

function namesOf(path: Path): string[] {
  const names: string[] = [];
  for (let at = path; at; at = at.parent) names.unshift(at.name);
  return names;
}
