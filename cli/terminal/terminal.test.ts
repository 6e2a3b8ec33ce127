import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { shellQuote } from "#shared/shell-quote.ts";
import { colors, statusColor } from "./colors.ts";
import { openerOf } from "./open-url.ts";
import { Output } from "./output.ts";
import { printable } from "./printable.ts";
import { ProgressView, type Snapshot } from "./progress-view.ts";
import { shortened, table } from "./table.ts";
import { agoText, bytesText, durationText, parseDuration, parseTime } from "./values.ts";

const NOW = Date.parse("2026-11-22T10:00:00Z");

it.each<[number, string]>([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1.00 kB"],
  [999_600, "1.00 MB"],
  [5_368_709_120, "5.37 GB"],
])("writes %d bytes as %s", (bytes, text) => expect(bytesText(bytes)).toBe(text));

it.each<[number, string]>([
  [0.4, "0s"],
  [59.4, "59s"],
  [65, "1m 05s"],
  [7380, "2h 03m"],
  [277_200, "3d 05h"],
])("writes %d seconds as %s", (seconds, text) => expect(durationText(seconds)).toBe(text));

it.each<[string, number | null]>([
  ["90", 90],
  ["90s", 90],
  ["500ms", 0.5],
  ["1.5h", 5400],
  ["2d", 172_800],
  ["soon", null],
  ["-5s", null],
])("reads the duration %s", (text, seconds) => expect(parseDuration(text)).toBe(seconds));

it.each<[string, string | null]>([
  ["2h", "2026-11-22T08:00:00.000Z"],
  ["2026-11-21", "2026-11-21T00:00:00.000Z"],
  ["2026-11-21T10:30:00+01:00", "2026-11-21T09:30:00.000Z"],
  ["yesterday", null],
  ["2026-13-01", null],
])("reads the time %s", (text, expected) => {
  const at = parseTime(text, NOW);
  expect(at === null ? null : new Date(at).toISOString()).toBe(expected);
});

it("reads both date formats of the API", () => {
  expect(agoText("2026-11-22 09:59:00 +0000", NOW)).toBe("1m 00s ago");
  expect(agoText("2026-11-22T09:59:00.000Z", NOW)).toBe("1m 00s ago");
});

it("aligns columns by their visible width", () => {
  const { red } = colors(true);
  expect(
    table([
      ["a", red("bb"), "c"],
      ["long", "b", "d"],
    ]),
  ).toBe(`a     ${red("bb")}  c\nlong  b   d`);
});

it.each([
  ["abcdef", 4, "abc…"],
  ["日本語クリップ.mov", 8, "日本語…"],
  ["日本語", 6, "日本語"],
  ["👨‍👩‍👧👨‍👩‍👧.mp4", 4, "👨‍👩‍👧…"],
  ["e\u0301e\u0301e\u0301", 2, "e\u0301…"],
])("shortens %s to %d columns of the terminal", (text, width, expected) => {
  expect(shortened(text, width)).toBe(expected);
});

it("aligns columns with wide letters", () => {
  expect(
    table([
      ["日本語.mov", "a"],
      ["clip.mov", "b"],
    ]),
  ).toBe("日本語.mov  a\nclip.mov    b");
});

describe("text of a service, a file or a person", () => {
  const HOSTILE = "a\u001b[2Jb\u001b]0;title\u0007\u009b31mc\u2028d\ne\u001b[31mf\u202eg\u200bh\u2066i\u{e0041}";
  const hasControl = (text: string): boolean =>
    [...text].some((c) => (c < " " && c !== "\n") || (c >= "\u007f" && c <= "\u009f") || /\u2028|\p{Cf}/u.test(c));

  /** Returns all texts that a command writes, in the order of its writes. */
  function written(options: { json: boolean; noColor: boolean }, write: (output: Output) => void): string {
    const texts: string[] = [];
    const stream = { isTTY: true, write: (text: string) => texts.push(text) };
    write(new Output({ stdout: stream, stderr: stream, env: {}, quiet: false, ...options }));
    return texts.join("");
  }

  it.each<[string, (output: Output) => void]>([
    ["data", (output) => output.data({}, () => HOSTILE)],
    ["a line", (output) => output.line({}, () => HOSTILE)],
    ["a message", (output) => output.words(HOSTILE)],
    ["a warning", (output) => output.warn(HOSTILE)],
    ["progress", (output) => progressOf(output).show({ progress: 0, state: HOSTILE, lines: [] })],
  ])("is written without control characters in %s", (_name, write) => {
    const text = written({ json: false, noColor: true }, write);
    expect(hasControl(text.replaceAll("\r\u001b[2K", "").replaceAll("\u001b[J", ""))).toBe(false);
  });

  it("is written with the colors that this program adds", () => {
    const text = written({ json: false, noColor: false }, (output) => output.warn(output.wordColors.red(HOSTILE)));
    expect(text).toBe("\u001b[31ma�[2Jb�]0;title��31mc�d\ne�[31mf�g�h�i�\u001b[39m\n");
  });

  it("keeps joiners, which words and emojis need", () => {
    const texts = ["می\u200cخواهم", "👩\u200d💻"];
    expect(texts.map(printable)).toEqual(texts);
  });

  it("is escaped in JSON without a change of the parsed document", () => {
    const text = written({ json: true, noColor: false }, (output) => output.data({ tag: HOSTILE }, () => ""));
    expect(hasControl(text)).toBe(false);
    expect(JSON.parse(text)).toEqual({ tag: HOSTILE });
  });

  const progressOf = ({ stderr, colors }: Output): ProgressView =>
    new ProgressView({ out: stderr, colors, now: () => 0, hidden: false });
});

it("prints the status as text, also without colors", () => {
  expect(statusColor("job.failed", colors(false))).toBe("job.failed");
});

it("quotes arguments for a shell", () => {
  const blanks = ["", " ", "a\nb"];
  const hostile = [...blanks, ...'it\'s|"$HOME"|`id`|*|~|-x|a\\b|!1|é|#no|{a,b}|a;b'.split("|")];
  const printed = execFileSync("sh", ["-c", `printf '%s\\0' ${hostile.map(shellQuote).join(" ")}`], {
    encoding: "utf8",
  });
  expect(printed.split("\0").slice(0, -1)).toEqual(hostile);
});

describe("ProgressView", () => {
  const snapshot = (progress: number, state = "starting"): Snapshot => ({
    progress,
    state,
    endsMs: state === "completed" ? null : 42_000,
    lines: [{ name: "mp4:720p", progress, state: "encoding", detail: "48 fps" }],
  });

  function view(isTTY: boolean) {
    const written: string[] = [];
    let now = 0;
    const out = { isTTY, columns: 80, write: (text: string) => written.push(text) };
    const progress = new ProgressView({ out, colors: colors(false), now: () => now, hidden: false });
    return {
      written,
      shown: progress,
      wait: (ms: number): void => {
        now += ms;
      },
    };
  }

  it("writes lines for new states and large steps without a terminal", () => {
    const { written, shown: progress, wait } = view(false);
    for (const step of [0, 0.01, 0.05, 0.2, 0.21, 0.4]) {
      progress.show(snapshot(step));
      wait(2500);
    }
    progress.show(snapshot(1, "completed"));
    expect(written.map((line) => line.split(" · ").slice(0, 2).join(" "))).toEqual([
      "0% starting",
      "20% starting",
      "40% starting",
      "100% completed",
    ]);
    expect(written.at(-2)).toContain("ETA 30s");
    expect(written.at(-1)).not.toContain("ETA");
    expect(written.join("")).not.toContain("\u001b");
  });

  it("redraws bars on a terminal, and leaves the last bars", () => {
    const { written, shown: progress, wait } = view(true);
    progress.show(snapshot(0.25));
    wait(50);
    progress.show(snapshot(0.3));
    expect(written).toHaveLength(1);
    wait(100);
    progress.show(snapshot(0.5));
    progress.end();
    expect(written[0]).toContain("██████░░░░░░░░░░░░░░░░░░   25%  encoding  48 fps");
    expect(written[1]?.startsWith("\u001b[2A\r\u001b[2K")).toBe(true);
    for (const line of written.join("").split("\n")) expect(line.replaceAll("\r", "").length).toBeLessThan(90);
  });
});

it.each<[NodeJS.Platform, string, readonly string[] | null]>([
  ["linux", "https://copra.test/dashboard#once=x", ["xdg-open", "https://copra.test/dashboard#once=x"]],
  ["darwin", "http://127.0.0.1:8787/", ["open", "http://127.0.0.1:8787/"]],
  // No shell is started: there, & would start a second command.
  ["win32", "http://a.test/?b&calc", ["rundll32.exe", "url.dll,FileProtocolHandler", "http://a.test/?b&calc"]],
  ["win32", 'http://a.test/" x', ["rundll32.exe", "url.dll,FileProtocolHandler", "http://a.test/%22%20x"]],
  ["win32", "C:\\Windows\\System32\\calc.exe", null],
  ["darwin", "file:///Applications/Calculator.app", null],
  ["linux", "--help", null],
])("on %s opens %s by %j", (platform, url, command) => expect(openerOf(url, platform)).toEqual(command));
