// The page on costs against the calculator and the benchmarks.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../local/home/constants.ts";
import { exampleRow } from "./example-row.ts";
import { LADDERS } from "./ladders.ts";

const pageOf = (name: string): string => readFileSync(join(ROOT, "docs", `${name}.md`), "utf8");

it.each(LADDERS)("the example of $title is what the calculator computes", (ladder) => {
  expect(pageOf("costs")).toContain(exampleRow(ladder));
});

it.each(LADDERS)("the hours of $title are those of the benchmark", ({ title, coreHours }) => {
  expect(pageOf("benchmarks")).toContain(`| ${title} | ${coreHours.toFixed(2)} |`);
});

it("the prices of a million jobs are those of the page", () => {
  const prices = [...pageOf("costs").matchAll(/^\| .* \| \*\*([\d.]+)\*\* \|/gm)].map(([, price]) => Number(price));
  for (const { perMillion } of LADDERS) expect(prices).toContain(perMillion);
});
