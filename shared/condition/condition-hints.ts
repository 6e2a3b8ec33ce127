// Hints for common mistakes in conditions: operators of programming languages, wrong braces, variables of API v1.

import { nearest } from "../nearest.ts";
import { CONDITION_VARIABLES } from "./condition-variables.ts";

const NAMES = CONDITION_VARIABLES.map((name) => `input.${name}`);

type Mistake = readonly [RegExp, (match: RegExpExecArray) => string];

/** No valid token starts with any of these. */
const NEVER_VALID: readonly Mistake[] = [
  [/===?/y, ([text]) => `write \`=\` instead of \`${text}\``],
  [/!==/y, ([text]) => `write \`!=\` instead of \`${text}\``],
  [/=>|≥/y, ([text]) => `write \`>=\` instead of \`${text}\``],
  [/=<|≤/y, ([text]) => `write \`<=\` instead of \`${text}\``],
  [/≠|<>=|!<|!>/y, ([text]) => `write \`!=\` instead of \`${text}\``],
  [/&&?/y, ([text]) => `write \`AND\` instead of \`${text}\``],
  [/\|\|?/y, ([text]) => `write \`OR\` instead of \`${text}\``],
  [/!(?!=)/y, () => "write `NOT` instead of `!`"],
  [/[“”„‘’‚«»]/y, ([text]) => `write a straight quote, \`'\` or \`"\`, instead of \`${text}\``],
  [/\$\{?(?:source_)?(\w+)\}?/y, ([text, name = ""]) => `\`${text}\` is API v1 syntax; write ${inBraces(name)}`],
  [/\binput\.[\w.-]+/y, ([text]) => `write ${inBraces(text)} instead of \`${text}\``],
];

/** Mistakes where no valid token matches. */
const UNMATCHED: readonly Mistake[] = [
  [
    /\{+\s*([\w.-]+)\s*\}*/y,
    ([text, name = ""]) => `write ${inBraces(name)} (two braces on each side) instead of \`${text}\``,
  ],
  [/["']/y, () => "this quote is not closed"],
];

/**
 * What to write instead of the text at a position; null without a hint. `matches`: whether a valid token matches there.
 */
export function hintAt(text: string, at: number, matches: boolean): string | null {
  for (const [pattern, hint] of matches ? NEVER_VALID : [...NEVER_VALID, ...UNMATCHED]) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) return hint(match);
  }
  return null;
}

/** A suggestion for a variable that does not exist; empty when no known one is similar. */
export function suggestVariable(name: string): string {
  const meant = variableOf(name);
  return meant === null ? "" : `; did you mean \`{{ ${meant} }}\`?`;
}

/** A hint for a variable without braces; null when the name is not a variable. */
export const unbracedVariable = (name: string): string | null =>
  NAMES.includes(`input.${name.toLowerCase()}`) ? `write ${inBraces(name)} instead of \`${name}\`` : null;

const inBraces = (name: string): string => `\`{{ ${variableOf(name) ?? "input.width"} }}\``;

function variableOf(name: string): string | null {
  const full = name.toLowerCase().startsWith("input.") ? name : `input.${name}`;
  return /^input\.metadata\./.test(full) ? full : nearest(full, NAMES);
}
