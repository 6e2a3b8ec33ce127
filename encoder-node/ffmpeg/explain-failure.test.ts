// What a node reports for failed runs. `failures.txt` has ffmpeg's last messages and the report for each case.
import { readFileSync } from "node:fs";
import { expect, it, test } from "vitest";
import type { ErrorCode } from "#shared/errors.ts";
import { explainFailure } from "./explain-failure.ts";
import type { CommandFailure } from "./run-tool.ts";

type Case = { title: string; reason?: CommandFailure["reason"]; stderr: string; code: string; message: string };

const CASES = readFileSync(new URL("../testing/fixtures/failures.txt", import.meta.url), "utf8").split("\n\n");
const CASE =
  /^# (?<title>[^(\n]*?)(?: \((?<reason>\w+)\))?\n(?<stderr>(?:(?!=> ).*\n)*)=> (?<code>\w+): (?<message>.*)$/m;

test.each(CASES.map((text) => CASE.exec(text)?.groups as Case))(
  "$title: $code",
  ({ reason = "exit", stderr, code, message }) => {
    const end = { reason, exitCode: reason === "exit" ? 1 : null };
    expect(explainFailure(stderr, end, "/srv/tasks")).toEqual({ code, message });
  },
);

test.each<[Partial<CommandFailure>, ErrorCode, RegExp]>([
  [{ reason: "exit", exitCode: 69 }, "encoding_failed", /^Most of the video or audio of the input cannot be decoded/],
  [{ reason: "frames" }, "encoding_failed", /far more frames than its header declares/],
  [{ reason: "time" }, "encoding_failed", /far longer than the input's duration allows/],
  [{ reason: "file" }, "encoding_failed", /file far larger than its duration allows/],
  [{ reason: "disk" }, "node_failed", /no disk space left/],
  [{ reason: "signal", signal: "SIGSEGV" }, "encoding_failed", /crashed on this input \(SIGSEGV\)/],
  [{ reason: "signal", signal: "SIGKILL" }, "node_failed", /most likely because memory ran out/],
])("%j", (end, code, message) => {
  const failure = explainFailure("moved out of order", { reason: "exit", exitCode: null, ...end }, "/srv/tasks");
  expect(failure).toEqual({ code, message: expect.stringMatching(message) });
});

it("keeps quotes short", () => {
  const { message } = explainFailure("x".repeat(8000), { reason: "exit", exitCode: 1 }, "/srv/tasks");
  expect(message.length).toBeLessThan(400);
});
