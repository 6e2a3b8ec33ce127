// Texts that people type for the values of fields. Pure.
import { isObject, textAt } from "./edit.ts";
import type { FormField } from "./form-field.ts";

const isNumber = (text: string): boolean => /^-?\d+(?:\.\d*)?$/.test(text);

/** The value of a text; undefined for an empty text. An invalid number stays a text, which the service rejects. */
export function parsed({ type, choices = [] }: FormField, text: string): unknown {
  const plain = text.trim();
  if (plain === "") return undefined;
  switch (type) {
    case "number":
    case "mixed":
      return isNumber(plain) ? Number(plain) : plain;
    case "choice":
      return choices.every(isNumber) ? Number(plain) : plain;
    case "list":
      return linesOf(text);
    case "headers":
      return Object.fromEntries(linesOf(text).map((line) => pairOf(line, ":")));
    case "pairs":
      return Object.fromEntries(linesOf(text).map((line) => pairOf(line, "=")));
    case "numbers":
      return plain
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== "")
        .map((part) => (isNumber(part) ? Number(part) : part));
    default:
      return text;
  }
}

const pairOf = (line: string, separator: string): [name: string, value: string] => {
  const [name = "", ...value] = line.split(separator);
  return [name.trim(), value.join(separator).trim()];
};

const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** The text of a value; empty for undefined. */
export function printed({ type }: FormField, value: unknown): string {
  if (Array.isArray(value)) return value.join(type === "numbers" ? ", " : "\n");
  if (!isObject(value) || (type !== "headers" && type !== "pairs")) return textAt(value, []);
  const separator = type === "headers" ? ": " : "=";
  return Object.entries(value)
    .map(([name, one]) => `${name}${separator}${textAt(one, [])}`)
    .join("\n");
}

/** True if a text stands for the value: both `1.` and `1` stand for 1. */
export const isText = (field: FormField, text: string, value: unknown): boolean =>
  JSON.stringify(parsed(field, text)) === JSON.stringify(value);
