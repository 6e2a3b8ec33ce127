import { expect, it } from "vitest";
import { readableLine } from "./readable-log.ts";

const line = (level: string, fields: object): string =>
  JSON.stringify({ time: new Date(2026, 10, 26, 9, 5, 7).toISOString(), level, message: "task completed", ...fields });

it.each<[string, string, object, string]>([
  ["values", "info", { kind: "encode", tookMs: 12, error: null }, "09:05:07  task completed  kind=encode tookMs=12"],
  ["the level of a warning", "warn", { code: "node_failed" }, "09:05:07  WARN task completed  code=node_failed"],
  [
    "text of others, without what a terminal obeys",
    "info",
    { error: "a b\u001b]0;x\u009b" },
    '09:05:07  task completed  error="a b\\u001b]0;x\\u009b"',
  ],
])("shows %s as readable text", (_, level, fields, text) => {
  expect(readableLine(line(level, fields), false)).toBe(text);
});

it("colors lines only on request", () => {
  expect(readableLine(line("error", {}), true)).toContain("\u001b[31mERROR task completed\u001b[0m");
  expect(readableLine(line("error", {}), false)).not.toContain("\u001b");
});
