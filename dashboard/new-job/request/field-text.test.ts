import { expect, it } from "vitest";
import { isText, parsed, printed } from "./field-text.ts";

const field = (type: Parameters<typeof parsed>[0]["type"], choices?: readonly string[]) => ({
  member: "a",
  label: "A",
  type,
  ...(choices && { choices }),
});

it.each([
  [field("text"), " a ", " a "],
  [field("text"), " ", undefined],
  [field("number"), "1.", 1],
  [field("number"), "-50", -50],
  [field("number"), "ten", "ten"],
  [field("choice", ["0", "1"]), "1", 1],
  [field("choice", ["0", "a"]), "0", "0"],
  [field("list"), "a\n\n b ", ["a", "b"]],
  [field("headers"), "A: b:c\n\n X-D :e", { A: "b:c", "X-D": "e" }],
  [field("headers"), "A", { A: "" }],
  [field("pairs"), "a=1\n\n b = x=y \nc", { a: "1", b: "x=y", c: "" }],
  [field("numbers"), "1, 2.5,x,", [1, 2.5, "x"]],
])("the field %j takes the text %j as %j", (of, text, value) => {
  expect(parsed(of, text)).toEqual(value);
  // The typed text stays as it is, and the printed text has the same value.
  expect(isText(of, text, value)).toBe(true);
  expect(parsed(of, printed(of, value))).toEqual(value);
});
