import { expect, it } from "vitest";
import { chainText, drawtextFilter, quoted } from "./filter-text.ts";

it.each(["'", "\\", "a'b", "a\\,b", "if(eq(N,0),0,PTS)'", "\\'"])("quotes no expression with %s", (text) => {
  expect(() => quoted(text)).toThrow("cannot be quoted");
});

it.each([
  "scale=1:2,movie=/etc/passwd",
  "scale=1:2;movie=/etc/passwd",
  "scale=w='1\\',movie=/etc/passwd'",
  "scale=w='1',movie='/etc/passwd'",
  "scale=1\\,movie=/etc/passwd",
  "scale=1[a]",
  "scale=1'",
  "movie=/etc/passwd",
  "movie=burn-0.nut:f=mov",
  "subtitles=/etc/passwd",
  "subtitles=burn-0.ass:fontsdir=/",
  "amovie=a",
  "subtitles=text-0-1-0-99.ass:fontsdir=/",
  "subtitles=text-0-1-0-../a.ass:fontsdir=fonts",
  "drawtext=text=a",
  "drawtext=textfile=/etc/passwd",
  "hasOwnProperty=1",
  "",
])("writes no filter of a plan that has become another text: %s", (filter) => {
  expect(() => chainText(["null", filter])).toThrow("No filter of a plan");
});

it.each([
  [false, 255, "fontcolor=0xffffff"],
  [true, 9, "fontcolor=0x090909"],
])("writes numbers alone into the text of a timecode", (dropsFrames, gray, part) => {
  const filter = drawtextFilter(
    dropsFrames,
    gray,
    Array.from({ length: 57 }, (_, at) => at / 7 - 2),
  );
  expect(chainText(["null", filter])).toContain(part);
  for (const changed of ["%{pts}", "a", "'", "\\", "1e9", "NaN"]) {
    expect(() => chainText([filter.replace(/\d+\.\d+/, changed)])).toThrow("No filter of a plan");
    expect(() => chainText([filter.replace("%{eif", `${changed}%{eif`)])).toThrow("No filter of a plan");
  }
  expect(() => chainText([`${filter}:textfile=/etc/passwd`])).toThrow("No filter of a plan");
  expect(() => chainText([drawtextFilter(dropsFrames, gray, [1])])).toThrow("No filter of a plan");
});

it("writes quoted expressions with commas", () => {
  const expression = "if(eq(N,0)*lt(T,0.1),0,PTS-1/SR/TB)";
  expect(chainText(["aresample=48000", `asetpts=${quoted(expression)}`])).toBe(
    `aresample=48000,asetpts='${expression}'`,
  );
});
