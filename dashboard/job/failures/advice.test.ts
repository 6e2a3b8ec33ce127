import { expect, it } from "vitest";
import { adviceFor } from "./advice.ts";

it.each([
  ["input_http_404", "Correct the source: Edit and send again.", false],
  ["input_http_503", "Retry the job: the failure may pass.", true],
  ["input_has_no_audio", "Correct the source or the output: Edit and send again.", false],
  ["offset_beyond_end", "Correct the request: Edit and send again.", false],
  ["storage_denied", "Correct the storage: Edit and send again.", false],
  ["storage_unreachable", "Retry the job when the storage is up.", true],
  ["a_code_of_tomorrow", "Retry the job: the failure may pass.", true],
  [undefined, "Retry the job: the failure may pass.", true],
])("gives advice for %s: %s", (code, text, mayRetry) => {
  expect(adviceFor(code)).toEqual({ text, mayRetry });
});
