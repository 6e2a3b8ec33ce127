import { describe, expect, it } from "vitest";
import { ERRORS } from "../../../shared/errors.ts";
import { adviceFor } from "./advice.ts";

describe("advice about a failure", () => {
  it("has advice for each reason why an input or output fails", () => {
    // The job handles these codes of a node itself; no output ends with them.
    const internal = new Set(["node_busy", "chunk_mismatch"]);
    const general = new Set(
      ["another", "request_not_valid", "input_http_418", "internal_error"].map((code) => adviceFor(code).text),
    );
    for (const [code, { http }] of Object.entries(ERRORS)) {
      if (http === null && !internal.has(code))
        expect([code, general.has(adviceFor(code).text)]).toEqual([code, false]);
    }
  });

  it.each([
    ["input_http_404", "nothing at the URL", true],
    ["input_http_403", "denies access", true],
    ["input_http_503", "Try again later", true],
    ["input_not_media", "Open the URL", false],
    ["offset_beyond_end", "less than the length", false],
    ["storage_denied", "credentials", true],
    ["a_code_of_tomorrow", "Start the job again later", true],
    [undefined, "Start the job again later", true],
  ])("gives advice for %s: %s", (code, text, mayRetry) => {
    expect(adviceFor(code)).toMatchObject({ text: expect.stringContaining(text), mayRetry });
  });

  it("names no URL of an uploaded file in the advice", () => {
    expect(adviceFor("input_not_media", true).text).not.toContain("URL");
  });
});
