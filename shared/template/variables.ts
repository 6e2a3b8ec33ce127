// Variables of templates: `{{ vars.name }}` in strings. They are replaced when a job is created, before its validation.
import { isUrlText } from "../job/metadata.ts";
import { fieldOf, isObject } from "../request/parse-section.ts";

/** Letters, digits and `_`; not a digit first. */
export const VARIABLE_NAME = /^[A-Za-z_]\w{0,39}$/;
const VARIABLE = /\{\{ {0,9}vars\.([A-Za-z_]\w{0,39}) {0,9}\}\}/g;
const WHOLE = new RegExp(`^${VARIABLE.source}$`);
/** The start of a variable, valid or not. */
const STARTED = /\{\{ {0,9}vars\b/;

/**
 * A variable in a string, and its place in the template. `within`: what surrounds it; `nothing`: the string gets the
 * type of the value.
 */
export type Use = {
  readonly name: string;
  readonly path: readonly string[];
  readonly within: "nothing" | "a URL" | "a condition" | "quotes of a condition" | "a text";
};

/** All variables in the strings of a value, in its order. `path` is the place of the value in the template. */
export function usesOf(value: unknown, path: readonly string[] = []): Use[] {
  if (typeof value === "string") {
    return [...value.matchAll(VARIABLE)].map(({ 1: name = "", index }) => ({
      name,
      path,
      within: surroundingsOf(value, index, path.at(-1)),
    }));
  }
  return membersOf(value).flatMap(([name, member]) => usesOf(member, [...path, name]));
}

function surroundingsOf(text: string, index: number, field: string | undefined): Use["within"] {
  if (WHOLE.test(text)) return "nothing";
  if (isUrlText(text)) return "a URL";
  if (field !== "if") return "a text";
  const isQuoted = /['"]/.test(text.slice(0, index).replace(/'[^']*'|"[^"]*"/g, ""));
  return isQuoted ? "quotes of a condition" : "a condition";
}

/** The variable that a string is and that gives it its type; null if there is more in the string, or none. */
export const wholeVariable = (text: string): string | null => WHOLE.exec(text)?.[1] ?? null;

/** The text before the first variable; null if the text has no variable. */
export const literalPrefix = (text: string): string | null => {
  const at = text.search(new RegExp(VARIABLE.source));
  return at < 0 ? null : text.slice(0, at);
};

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

/**
 * Replaces all variables. Every variable must have a value, and variables within a text a scalar. Within a URL, a value
 * is percent-encoded except for `/`.
 */
export function substitute(value: unknown, vars: ReadonlyMap<string, unknown>): unknown {
  if (typeof value === "string") {
    const whole = WHOLE.exec(value)?.[1];
    if (whole !== undefined) return vars.get(whole);
    const print = isUrlText(value) ? encodeSegments : (text: string) => text;
    return value.replace(VARIABLE, (_, name: string) => print(String(vars.get(name))));
  }
  if (Array.isArray(value)) return value.map((member) => substitute(member, vars));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, substitute(member, vars)]));
}

const encodeSegments = (text: string): string => text.toWellFormed().split("/").map(encodeURIComponent).join("/");

const membersOf = (value: unknown): [string, unknown][] =>
  typeof value === "object" && value !== null ? Object.entries(value) : [];
