import { describe, expect, it } from "vitest";
import { CommandReports, MAX_COMMAND_CHARS } from "#shared/protocol/commands.ts";
import type { CommandResult } from "../ffmpeg/run-tool.ts";
import { CommandLog } from "./command-log.ts";

const FOLDER = "/srv/copra node/work/tasks/w-1/run-2";
const DONE: CommandResult = { ok: true };
const failed = (stderrTail: string): CommandResult => ({ ok: false, reason: "exit", exitCode: 1, stderrTail });

function logOf(...runs: [argv: string[], result: CommandResult][]): CommandLog {
  const log = new CommandLog();
  for (const [argv, result] of runs) log.start(argv, FOLDER)(result);
  return log;
}

describe("a reported command", () => {
  it.each([
    ["file:/srv/copra node/work/sources/abc-1/input", "input"],
    ["/srv/copra node/work/sources/abc-1/input", "input"],
    [`${FOLDER}/video.mp4`, "video.mp4"],
    ["out-0.mp4", "out-0.mp4"],
    ["http://127.0.0.1:41234/9f2c7d", "source"],
    ["https://me:pass@media.example.com/logo.png?X-Amz-Signature=abc#x", "https://media.example.com/logo.png"],
    ["https://me:p@ss/word@media.example.com/a", "https://media.example.com/a"],
    ["[0:v:0]scale=w=1280:h=iw/2,format=yuv420p[v0]", "[0:v:0]scale=w=1280:h=iw/2,format=yuv420p[v0]"],
    ["30000/1001", "30000/1001"],
  ])("shows %s as %s", (argument, logged) => {
    const log = logOf([["-i", argument], failed(`a line\nError opening ${argument}: no\r\nframe=1\u0007\u001b[31m`)]);
    expect(log.reports()).toMatchObject([{ argv: ["-i", logged], exitCode: 1 }]);
    expect(CommandReports.parse(log.reports())).toEqual(log.reports());
    expect(log.reports()[0]?.stderrTail).not.toMatch(/srv|pass|word|Signature|127\.0/);
  });

  it("a running command is reported with the last 20 lines of its output, and without the lists of codecs", () => {
    const log = new CommandLog();
    const argv = ["-codec_whitelist", "h264,hevc", "-i", `${FOLDER}/in.mp4`];
    const lines = Array.from({ length: 30 }, (_, at) => `line ${at} of ${FOLDER}/a`);
    const end = log.start(argv, FOLDER, () => lines.join("\n"));
    const [running] = CommandReports.parse(log.running());
    expect(running).toMatchObject({ argv: ["-i", "in.mp4"], exitCode: null });
    expect(running?.stderrTail?.split("\n")).toEqual(lines.slice(10).map((line) => line.replace(`${FOLDER}/`, "")));
    expect(log.reports()).toEqual([]);
    end(DONE);
    expect(log.running()).toEqual([]);
  });

  it("a reported command has the signal that ended it", () => {
    const crash: CommandResult = { ok: false, reason: "signal", signal: "SIGSEGV", exitCode: null, stderrTail: "" };
    const stalled: CommandResult = { ok: false, reason: "stalled", exitCode: null, stderrTail: "no end" };
    expect(logOf([["-i"], crash], [["-i"], stalled], [["-i"], DONE]).reports()).toMatchObject([
      { exitCode: null, signal: "SIGSEGV" },
      { exitCode: null, signal: "SIGKILL", stderrTail: "no end" },
      { exitCode: 0 },
    ]);
  });
});

describe("commands that are too long for a report", () => {
  const long = (text: string): string => text.repeat(9000);

  it("leaves out the earliest successful commands first", () => {
    const log = logOf([[long("a")], DONE], [["failed"], failed("why")], [[long("b")], DONE]);
    expect(log.reports().map(({ argv }) => argv[0]?.[0])).toEqual(["f", "b"]);
  });

  it.each<[string, string[]]>([
    ["an argument", ["-filter_complex", "x".repeat(40_000), "out.mp4"]],
    ["many arguments", Array.from({ length: 5000 }, (_, at) => `argument ${at}`)],
    ["text that JSON escapes", [String.raw`\"`.repeat(20_000)]],
  ])("shortens commands that are too long for a report: %s", (_, argv) => {
    const reports = logOf([argv, failed("z".repeat(8000))]).reports();
    expect(JSON.stringify(reports).length).toBeLessThanOrEqual(MAX_COMMAND_CHARS);
    expect(reports).toMatchObject([{ exitCode: 1, stderrTail: expect.stringContaining("zzz") }]);
    expect(CommandReports.parse(reports)).toEqual(reports);
  });
});
