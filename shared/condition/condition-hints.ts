// What someone likely meant by text that conditions do not know: operators of programming languages, other braces.

import { nearest } from "../nearest.ts";
import { CONDITION_VARIABLES } from "./condition-variables.ts";

const NAMES = CONDITION_VARIABLES.map((name) => `input.${name}`);

type Slip = readonly [RegExp, (match: RegExpExecArray) => string];

/** No text that is a condition begins with any of these. */
const NEVER: readonly Slip[] = [
  [/===?/y, ([text]) => `write \`=\` for \`${text}\``],
  [/!==/y, ([text]) => `write \`!=\` for \`${text}\``],
  [/=>|≥/y, ([text]) => `write \`>=\` for \`${text}\``],
  [/=<|≤/y, ([text]) => `write \`<=\` for \`${text}\``],
  [/≠|<>=|!<|!>/y, ([text]) => `write \`!=\` for \`${text}\``],
  [/&&?/y, ([text]) => `write \`AND\` for \`${text}\``],
  [/\|\|?/y, ([text]) => `write \`OR\` for \`${text}\``],
  [/!(?!=)/y, () => "write `NOT` for `!`"],
  [/[“”„‘’‚«»]/y, ([text]) => `write a straight quote, \`'\` or \`"\`, for \`${text}\``],
  [/\$\{?(?:source_)?(\w+)\}?/y, ([text, name = ""]) => `\`${text}\` is of API v1: write ${inBraces(name)}`],
  [/\binput\.[\w.-]+/y, ([text]) => `write ${inBraces(text)} for \`${text}\``],
];

/** These begin no condition where nothing else fits. */
const OTHERWISE: readonly Slip[] = [
  [
    /\{+\s*([\w.-]+)\s*\}*/y,
    ([text, name = ""]) => `write ${inBraces(name)} (two braces on each side) for \`${text}\``,
  ],
  [/["']/y, () => "this quote is never closed"],
];

/** What to write in place of the text at a place; null when nothing is known of it. `fits`: whether a word fits there. */
export function slipAt(text: string, at: number, fits: boolean): string | null {
  for (const [pattern, hint] of fits ? NEVER : [...NEVER, ...OTHERWISE]) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) return hint(match);
  }
  return null;
}

/** What a variable that does not exist may have meant; empty when nothing is near. */
export function meantByVariable(name: string): string {
  const meant = variableOf(name);
  return meant === null ? "" : `; did you mean \`{{ ${meant} }}\`?`;
}

/** A name without braces, as it is written when it is a variable; null when it is none. */
export const bareVariable = (name: string): string | null =>
  NAMES.includes(`input.${name.toLowerCase()}`) ? `write ${inBraces(name)} for \`${name}\`` : null;

const inBraces = (name: string): string => `\`{{ ${variableOf(name) ?? "input.width"} }}\``;

function variableOf(name: string): string | null {
  const full = name.toLowerCase().startsWith("input.") ? name : `input.${name}`;
  return /^input\.metadata\./.test(full) ? full : nearest(full, NAMES);
}
