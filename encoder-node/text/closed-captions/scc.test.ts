// SCC files as cues of WebVTT.
import { expect, it } from "vitest";
import { isScc, parseScc } from "./scc.ts";

const scc = (...lines: string[]): string => `Scenarist_SCC V1.0\n\n${lines.join("\n\n")}\n`;
const cuesOf = (text: string) => parseScc(text).cues.map(({ startMs, endMs, text }) => [startMs, endMs, text]);
/** Shows `HI` at once. */
const HI = "9420 9420 9470 9470 c849 942f 942f";
const ERASE = "942c 942c";

it.each([
  // The caption is displayed with the sixth pair.
  ["00:00:00:00", "00:00:02:00", 167, 2002],
  ["00:00:00;00", "00:00:02;00", 167, 2002],
  ["00:00:59;28", "00:01:02;00", 60_160, 61_995],
  ["00:00:59:28", "00:01:02:00", 60_160, 62_062],
  ["00:01:00;02", "00:02:00;02", 60_227, 120_053],
  ["00:09:59;25", "00:10:00;05", 599_999, 600_166],
  ["00:10:00;00", "00:11:00;02", 600_166, 660_059],
  ["01:00:00;00", "01:00:05;00", 3_600_163, 3_605_001],
  ["01:00:00:00", "01:00:05:00", 3_603_767, 3_608_605],
  ["10:00:00.00", "10:00:05,00", 36_000_131, 36_004_969],
  ["23:59:59;00", "23:59:59;29", 86_399_079, 86_399_880],
])("times are exact to the millisecond: %s to %s", (from, to, startMs, endMs) => {
  expect(cuesOf(scc(`${from}\t${HI}`, `${to}\t${ERASE}`))).toEqual([[startMs, endMs, "HI"]]);
});

it("delays a line until the data of the line before it has ended", () => {
  const text = scc(`00:00:01;00\t${HI}`, `00:00:01;02\t${ERASE}`);
  expect(cuesOf(text)).toEqual([[1168, 1235, "HI"]]);
});

it("reads all captions of a file, with upper case, spaces and lines in any order", () => {
  const text = scc(`00:00:05;00 ${ERASE}`, `00:00:01;00\t${HI.toUpperCase()}  `, "comment", `00:00:08;00\t${HI}`);
  expect(cuesOf(text)).toEqual([
    [1168, 5005, "HI"],
    [8175, 24_208, "HI"],
  ]);
});

it("reads the second channel of a file that has no other", () => {
  const second = "1c20 1c20 1c70 1c70 c849 1c2f 1c2f";
  expect(cuesOf(scc(`00:00:01;00\t${second}`))).toMatchObject([[1168, 17_201, "HI"]]);
});

it.each([
  ["Scenarist_SCC V1.0", true],
  ["Scenarist_SCC V1.0 \n\n", true],
  ["Scenarist_SCC V2.0\n", false],
  ["WEBVTT", false],
])("recognizes the format by its first line: %j", (text, expected) => {
  expect(isScc(text)).toBe(expected);
});

it.each(["", "00:00:01;00", "00:00:01;00\t", "00:61:00:00\t9420", "99:99\t9420", "\u0000".repeat(1000)])(
  "refuses a file without data: %j",
  (line) => {
    expect(() => parseScc(scc(line))).toThrow("it is not SCC with timecodes and data");
  },
);

it.each([
  ["a line of a million letters", "A".repeat(1_000_000)],
  ["a line with a timecode and many spaces", `00:00:01;00${" ".repeat(1_000_000)}`],
  ["codes that are none", "00:00:01;00 94209420 zzzz 94 ffff 0000 1fff"],
  ["many lines at the same time", "99:59:59;29 9425 c1c1\n".repeat(2_000)],
])("survives %s", (_, content) => {
  const cues = cuesOf(scc(`00:00:01;00\t${HI}`, content, `00:00:08;00\t${ERASE}`));
  expect(cues.length).toBeGreaterThan(0);
});
