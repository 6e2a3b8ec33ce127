import { describe, expect, it } from "vitest";
import { adviceFor } from "./advice.ts";

describe("advice about a failure", () => {
  it.each([
    ["input_http_404", "Correct the URL", false],
    ["input_http_403", "a signed URL may have expired", false],
    ["input_http_503", "Try again later", true],
    ["input_not_media", "Open the URL", false],
    ["offset_beyond_end", "less than the length", false],
    ["storage_denied", "Correct the storage with Edit and send again", false],
    ["storage_unreachable", "when the storage is up", true],
    ["a_code_of_tomorrow", "Start the job again later", true],
    [undefined, "Start the job again later", true],
  ])("gives advice for %s: %s", (code, text, mayRetry) => {
    expect(adviceFor(code)).toMatchObject({ text: expect.stringContaining(text), mayRetry });
  });

  it("names no URL of an uploaded file in the advice", () => {
    expect(adviceFor("input_not_media", true).text).not.toContain("URL");
  });
});
