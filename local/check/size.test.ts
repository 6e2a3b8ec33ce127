import { expect, it } from "vitest";
import { sizeErrors } from "./size.ts";

const ceilingOf = (code: string): string => `code ${code}\ntests 500\n`;

it.each([
  ["accepts counts below the ceiling", 990, "1000", "1000", []],
  ["rejects more lines than the ceiling", 1001, "1000", "1000", ["1001 lines of code, at most 1000 are allowed"]],
  ["asks to lower a ceiling far above the count", 700, "1000", "1000", ["700 lines of code: lower 1000 to that"]],
  ["accepts a lower ceiling", 990, "1000", "2000", []],
  ["accepts a higher ceiling with an issue", 1500, "1600 #48 captions from speech", "1000", []],
  [
    "rejects a higher ceiling without an issue",
    1500,
    "1600 captions",
    "1000",
    ["The ceiling of code rises from 1000 to 1600 without the number of an issue (#48)"],
  ],
])("%s", (_, code, ceiling, before, errors) => {
  expect(sizeErrors({ code, tests: 500 }, ceilingOf(ceiling), ceilingOf(before))).toEqual(errors);
});

it("rejects counts without a ceiling", () => {
  expect(sizeErrors({ code: 1, tests: 0 }, "tests 0\n", "")).toEqual(["1 lines of code, at most 0 are allowed"]);
});
