// Variables of templates: `{{ vars.name }}` in strings. They are replaced when a job is created, before its validation.
import { fieldOf, isObject } from "../request/parse-section.ts";

/** Letters, digits and `_`; not a digit first. */
export const VARIABLE_NAME = /^[A-Za-z_]\w{0,39}$/;
const VARIABLE = /\{\{ {0,9}vars\.([A-Za-z_]\w{0,39}) {0,9}\}\}/g;
const WHOLE = new RegExp(`^${VARIABLE.source}$`);
/** The start of a variable, valid or not. */
const STARTED = /\{\{ {0,9}vars\b/;

/** A variable in a string. `isWhole`: the string is nothing else, and gets the type of the value. */
export type Use = { readonly name: string; readonly field: string; readonly isWhole: boolean };

/** All variables in the strings of a value, in its order. `path` is the place of the value in the template. */
export function usesOf(value: unknown, path: readonly string[] = []): Use[] {
  if (typeof value === "string") {
    const isWhole = WHOLE.test(value);
    const field = fieldOf("", path);
    return [...value.matchAll(VARIABLE)].map(([, name = ""]) => ({ name, field, isWhole }));
  }
  return membersOf(value).flatMap(([name, member]) => usesOf(member, [...path, name]));
}

/** The path of a property name with a variable, or of a string with a variable that is not valid; null if none. */
export function misplacedVariable(value: unknown, path: readonly string[] = []): string | null {
  if (typeof value === "string") return STARTED.test(value.replace(VARIABLE, "")) ? fieldOf("", path) : null;
  for (const [name, member] of membersOf(value)) {
    const place = [...path, name];
    if (STARTED.test(name)) return fieldOf("", place);
    const misplaced = misplacedVariable(member, place);
    if (misplaced !== null) return misplaced;
  }
  return null;
}

/** Replaces all variables. Every variable must have a value, and variables within a text a scalar. */
export function substitute(value: unknown, vars: ReadonlyMap<string, unknown>): unknown {
  if (typeof value === "string") {
    const whole = WHOLE.exec(value)?.[1];
    if (whole !== undefined) return vars.get(whole);
    return value.replace(VARIABLE, (_, name: string) => String(vars.get(name)));
  }
  if (Array.isArray(value)) return value.map((member) => substitute(member, vars));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, substitute(member, vars)]));
}

const membersOf = (value: unknown): [string, unknown][] =>
  typeof value === "object" && value !== null ? Object.entries(value) : [];
