import { expect, it } from "vitest";
import { slowRegexes, slowText } from "./linear-regexes.ts";

it.each([
  ["a search in spaces before each line", /^\s*(?:(?:var|set)\s+\w+\s*=|->\s*\w+)/m],
  ["comments that may contain each other", /^(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body)\b/is],
  ["a loop in a loop", /(a+)+$/],
  ["two loops over the same", /^\w*\w*!/],
  ["a search for an end that is far away", /<S\s[^>]*>/g],
  ["characters at the end", /\/+$/],
  ["the same after others at the start", /^\/+|\/+$/g],
  ["a line in a text of several", /#.*$/],
  ["alternatives that begin alike", /^(?:a|ab|b)*$/],
])("finds a slow regular expression: %s", (_, regex) => {
  expect(slowText(String(regex))).not.toBeNull();
});

it.each([
  ["spaces before each line", /^[ \t]*(?:set|var|->)\s/m],
  ["the last characters, found by the first of them", /(?<!\/)\/+$/],
  ["a class up to its end", /"[^"]*"/],
  ["bounded parts", /^\d{1,9}(?:\.\d{1,3})?$/],
  ["names between dots", /^\w+(?:\.\w+)*$/],
  ["a text after a look-ahead", /^(?!.*--)[a-z0-9-]{1,61}$/],
])("accepts a linear regular expression: %s", (_, regex) => {
  expect(slowText(String(regex))).toBeNull();
});

it("names the line of each expression in a file", () => {
  const source = 'const a = "b";\nexport const slow = (text: string) => text.replace(/=+$/, "");\n';
  expect(slowRegexes("a.ts", source)).toEqual([{ file: "a.ts", line: 2, regex: "/=+$/", text: '"= … \\u0000"' }]);
});
