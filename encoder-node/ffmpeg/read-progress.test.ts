import { expect, it, test } from "vitest";
import { INITIAL_PROGRESS, type Progress, progressFraction, rateOf, readProgress } from "./read-progress.ts";

const readAll = (...pieces: string[]): Progress => pieces.reduce(readProgress, INITIAL_PROGRESS).progress;

const block = (frame: string, time: string, state = "continue") =>
  `frame=${frame}\nfps=25.0\nbitrate= 512.3kbits/s\nout_time_us=${time}\nout_time_ms=${time}\nout_time=x\nspeed=2x\nprogress=${state}\n`;

test.each<[string, string[], Pick<Progress, "frame" | "outTimeMs" | "ended">]>([
  ["nothing", [""], { frame: 0, outTimeMs: 0, ended: false }],
  ["one block", [block("25", "1000000")], { frame: 25, outTimeMs: 1000, ended: false }],
  ["padded numbers", [block(" 25", " 1000000")], { frame: 25, outTimeMs: 1000, ended: false }],
  ["the last of several blocks", [block("1", "40000"), block("2", "80000")], { frame: 2, outTimeMs: 80, ended: false }],
  ["N/A before anything is known", [block("0", "N/A")], { frame: 0, outTimeMs: 0, ended: false }],
  ["N/A after a value", [block("5", "200000"), block("N/A", "N/A")], { frame: 5, outTimeMs: 200, ended: false }],
  ["a time before zero", [block("0", "-66667")], { frame: 0, outTimeMs: 0, ended: false }],
  ["audio only", ["out_time_us=500000\nprogress=continue\n"], { frame: 0, outTimeMs: 500, ended: false }],
  ["an unfinished block", [block("1", "40000"), "frame=9\nout_time_us=9"], { frame: 1, outTimeMs: 40, ended: false }],
  ["the end", [block("50", "2000000", "end")], { frame: 50, outTimeMs: 2000, ended: true }],
  ["Windows line ends", [block("7", "280000").replaceAll("\n", "\r\n")], { frame: 7, outTimeMs: 280, ended: false }],
  ["noise", ["hello\n=\n\nframe=\n", block("3", "120000")], { frame: 3, outTimeMs: 120, ended: false }],
])("reads %s", (_, pieces, expected) => {
  expect(readAll(...pieces)).toMatchObject(expected);
});

test.each<[string, string, object]>([
  ["a rate", "fps= 31.5\nspeed=1.26x\nprogress=continue\n", { fps: 31.5, speed: 1.26 }],
  ["a rate in scientific notation", "fps=1\nspeed=1.2e+03x\nprogress=continue\n", { fps: 1, speed: 1200 }],
  ["nothing before anything is encoded", "fps=0.00\nspeed=N/A\nprogress=continue\n", {}],
  ["no frames per second of audio", "speed=61.2x\nprogress=continue\n", { speed: 61.2 }],
  ["nothing of a rate that no encoder has", "fps=2e9\nspeed=1e12x\nprogress=continue\n", {}],
])("shows %s", (_, text, expected) => {
  expect(rateOf(readAll(text))).toEqual(expected);
});

it("gives the same result however the text is split", () => {
  const text = block("10", "400000") + block("N/A", "N/A") + block("20", "800000", "end");
  expect(readAll(...text)).toEqual(readAll(text));
});

it("keeps a bounded rest of output without line ends, and reads on after it", () => {
  const piece = "x".repeat(65_536);
  const flooded = Array.from({ length: 50 }, () => piece).reduce(readProgress, INITIAL_PROGRESS);
  expect(flooded.rest.length).toBeLessThanOrEqual(4096);
  expect(readProgress(flooded, `\n${block("3", "120000")}`).progress).toMatchObject({ frame: 3 });
});

test.each([
  ["frames are preferred", { frame: 30, outTimeMs: 9000 }, { expectedFrames: 60, durationMs: 10_000 }, 0.5],
  ["time, without frames", { frame: 30, outTimeMs: 2500 }, { expectedFrames: null, durationMs: 10_000 }, 0.25],
  ["nothing expected", { frame: 30, outTimeMs: 2500 }, { expectedFrames: null, durationMs: null }, 0],
  ["never above 1", { frame: 61, outTimeMs: 0 }, { expectedFrames: 60, durationMs: null }, 1],
  ["zero frames of zero", { frame: 0, outTimeMs: 0 }, { expectedFrames: 0, durationMs: null }, 0],
])("fraction: %s", (_, progress, expected, fraction) => {
  expect(progressFraction(progress, expected)).toBe(fraction);
});
