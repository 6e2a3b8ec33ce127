import { expect, it } from "vitest";
import { wholeView } from "./bulk.ts";
import { viewOf } from "./filter.ts";

it.each([
  ["retry", "q=clip", ["job.failed", "job.aborted"]],
  ["retry", "q=clip&status=failed,completed", ["job.failed"]],
  ["retry", "q=clip&status=completed", null],
  ["cancel", "q=clip", ["job.starting"]],
  ["cancel", "q=clip&status=failed", null],
] as const)("a %s of all jobs of %s selects the statuses %s", (verb, query, status) => {
  const expected = status && { filter: { q: "clip", status } };
  expect(wholeView(verb, viewOf(new URLSearchParams(query)))).toEqual(expected);
});
