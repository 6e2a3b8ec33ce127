// Text in requests must be valid Unicode: JSON can escape half of a surrogate pair, which UTF-8 cannot represent.
import { fieldOf } from "./parse-section.ts";

/** Error message for text that is not valid Unicode. */
export const UNICODE_RULE = "must be valid Unicode text, without unpaired surrogates";

/** An object or a list on the way to the current value, with the names of its members; null for a list. */
type Step = { readonly value: Readonly<Record<string, unknown>>; readonly names: readonly string[] | null; at: number };

/**
 * Returns the path of a string or property name that is not well-formed Unicode; null if there is none. A scalar costs
 * no allocation: a body of 1 MiB has half a million scalars.
 */
export function nonUnicodeField(section: string, value: unknown): string | null {
  // Not recursive: JSON may be nested deeper than the call stack.
  const steps: Step[] = [];
  const isWrong = (member: unknown): boolean => {
    if (typeof member === "object" && member !== null) steps.push(stepInto(member));
    return typeof member === "string" && !member.isWellFormed();
  };
  if (isWrong(value)) return fieldOf(section, []);
  for (let step = steps.at(-1); step; step = steps.at(-1)) {
    const name = step.names ? step.names[step.at] : step.at;
    step.at += 1;
    if (name === undefined || (step.names === null && step.at > (step.value.length as number))) steps.pop();
    else if (!String(name).isWellFormed() || isWrong(step.value[name])) return fieldOf(section, pathOf(steps));
  }
  return null;
}

const stepInto = (value: object): Step => ({
  value: value as Step["value"],
  names: Array.isArray(value) ? null : Object.keys(value),
  at: 0,
});

const pathOf = (steps: readonly Step[]): string[] => steps.map(({ names, at }) => names?.[at - 1] ?? String(at - 1));
