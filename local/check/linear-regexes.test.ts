import { expect, it } from "vitest";
import { regexesIn, slowness } from "./linear-regexes.ts";

it.each([/(a+)+$/, /<S\s[^>]*>/g, /\/+$/])("finds that %s is slow", async (regex) => {
  expect(await slowness({ pattern: regex.source, flags: regex.flags })).toMatch(/^is slow for/);
});

it.each([/^\d{1,9}(?:\.\d{1,3})?$/, /^\w+(?:\.\w+)*$/])("finds that %s is linear", async (regex) => {
  expect(await slowness({ pattern: regex.source, flags: regex.flags })).toBeNull();
});

it("names the line of each expression in a file", () => {
  const source = 'const a = "b";\nexport const slow = (text: string) => text.replace(/=+$/g, "");\n';
  expect(regexesIn("a.ts", source)).toEqual([{ file: "a.ts", line: 2, pattern: "=+$", flags: "g" }]);
});
