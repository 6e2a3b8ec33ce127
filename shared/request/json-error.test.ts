import fc from "fast-check";
import { expect, it } from "vitest";
import { jsonError } from "./json-error.ts";

it.each<[text: string, message: string, line: number, column: number]>([
  ['{"a":1,}', "unexpected `}` after a comma", 1, 8],
  ['{\n  "a": [1, 2,]\n}', "unexpected `]` after a comma", 2, 14],
  ['{"a":1', "the body ends where `,` or `}` is expected", 1, 7],
  ["{a:1}", "unexpected `a` where a property name in double quotes is expected", 1, 2],
  ["{'a':1}", "unexpected `'` where a property name in double quotes is expected", 1, 2],
  ['{"a" 1}', "unexpected `1` where `:` is expected", 1, 6],
  ['{"a":1 "b":2}', 'unexpected `"` where `,` or `}` is expected', 1, 8],
  ['{"a":undefined}', "unexpected `undefined` where a value is expected", 1, 6],
  ['{"a":01}', "unexpected `01` where a value is expected", 1, 6],
  ['{"a":}', "unexpected `}` where a value is expected", 1, 6],
  ['{"a":"b}', "a string is not closed", 1, 6],
  ['{"a":"b\nc"}', "a string contains a line break or control character", 1, 8],
  ['{"a":"\\d"}', "a string contains an invalid escape", 1, 7],
  ["{} {}", "unexpected `{` after the end of the JSON", 1, 4],
  ["no JSON", "unexpected `no` where a value is expected", 1, 1],
])("%j: %s", (text, message, line, column) => {
  expect(jsonError(text)).toEqual({ message, line, column });
});

it("returns null for JSON and a position for other text", () => {
  const broken = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom("", ",", "}", "]", '"', ":", "x", "0", "\\", "\n", "{", "["))
    .map(([json, at, put]) => json.slice(0, at % (json.length + 1)) + put + json.slice((at % (json.length + 1)) + 1));
  fc.assert(
    fc.property(fc.oneof(fc.json(), broken, fc.string()), (text) => {
      const fault = jsonError(text);
      expect(fault === null).toBe(parses(text));
      if (fault) expect(Math.min(fault.line, fault.column)).toBeGreaterThan(0);
    }),
    { numRuns: 600 },
  );
  expect(jsonError("[".repeat(500_000))).toMatchObject({ line: 1, column: 500_001 });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
