import { expect, it } from "vitest";
import { ERRORS, errorTraits, isErrorCode } from "../errors.ts";
import { INPUT_STATUSES, type InputMove, moveInput } from "./job-status.ts";
import { moveOutput, OUTPUT_PHASES, OUTPUT_STATUS, type OutputMove } from "./output-status.ts";

it("allows only the transitions of the table for an input", () => {
  const moves: InputMove[] = ["transfer", "transferred", "fail", "retry"];
  expect(
    INPUT_STATUSES.map((from) => `${from}: ${moves.map((move) => moveInput(from, move) ?? "-").join(" ")}`),
  ).toMatchInlineSnapshot(`
    [
      "input.starting: input.transferring input.transferred input.failed -",
      "input.transferring: - input.transferred input.failed input.starting",
      "input.transferred: - - input.failed input.starting",
      "input.failed: - - - input.starting",
    ]
  `);
});

it("allows only the transitions of the table for an output", () => {
  const moves: OutputMove[] = ["queue", "start", "package", "requeue", "finish", "fail", "skip", "abort", "retry"];
  const rows = OUTPUT_PHASES.map((from) => `${from}: ${moves.map((move) => moveOutput(from, move) ?? "-").join(" ")}`);
  expect([moves.join(" "), ...rows]).toMatchInlineSnapshot(`
    [
      "queue start package requeue finish fail skip abort retry",
      "waiting: queued - - - - failed skipped aborted -",
      "queued: - working - - done failed skipped aborted -",
      "working: - - packaging queued done failed skipped aborted -",
      "packaging: - - - queued done failed - aborted -",
      "done: - - - - - - - - -",
      "failed: - - - - - - - - waiting",
      "skipped: - - - - - - - - -",
      "aborted: - - - - - - - - waiting",
    ]
  `);
});

it("maps phases to the public statuses", () => {
  expect(Object.values(OUTPUT_STATUS.video)).toContain("video.encoding");
  expect(Object.values(OUTPUT_STATUS.image)).toContain("image.processing");
  expect(OUTPUT_STATUS.httpstream).toMatchObject({
    queued: "httpstream.queued",
    working: "httpstream.variants.encoding",
    packaging: "httpstream.packaging",
    done: "httpstream.packaged",
  });
});

it("classifies errors of a source server by their status", () => {
  expect(errorTraits("input_http_404")).toMatchObject({ http: null, retry: "later", blame: "source", scope: "input" });
  expect([408, 429, 500, 503].filter((status) => errorTraits(`input_http_${status}`).retry !== "now")).toEqual([]);
  expect(["input_http_404", "input_http_999", "input_http_", "toString", "nothing"].map(isErrorCode)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
  expect(Object.keys(ERRORS).every(isErrorCode)).toBe(true);
});
