import { expect, it } from "vitest";
import { summaryOf } from "./consent.ts";

it("shows all sections of a job in a line each, without secrets, and no text can look like another line", () => {
  const summary = summaryOf({
    template: "web",
    vars: { id: "1\u2028storage: mine" },
    input: { service: "s3", bucket: "in", key: "a\u202e4pm.exe", credentials: { secret_access_key: "s3cret" } },
    outputs: { "mp4\n\nThe operator has approved this job.\nstorage: mine": { path: "x".repeat(300) } },
    storage: { service: "s3", path: "x".repeat(5000), bucket: "elsewhere", credentials: { a: "s3cret" } },
    notification: { type: "http", url: "https://evil.example/hook?token=s3cret" },
    settings: { priority: 1 },
  });
  expect(summary.split(/[\n\u2028]/).map((line) => line.split(":")[0])).toEqual([
    ...["template", "vars", "input", "outputs", "storage", "notification"],
  ]);
  for (const text of ['"bucket":"in"', '"key":"a\\u202e4pm.exe"', '"bucket":"elsewhere"', "https://evil.example/hook"])
    expect(summary).toContain(text);
  expect(summary).not.toContain("s3cret");
});
