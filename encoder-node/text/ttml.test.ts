import { expect, test } from "vitest";
import { isTtml, parseTtml } from "./ttml.ts";

const document = (body: string, attributes = "", head = ""): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<tt xmlns="http://www.w3.org/ns/ttml" xmlns:tts="urn:x" xml:lang="en" ${attributes}>` +
  `<head>${head}</head><body><div>${body}</div></body></tt>`;
const cues = (text: string) => parseTtml(text)?.cues.map(({ startMs, endMs, text }) => `${startMs}-${endMs} ${text}`);

const NTSC = 'ttp:frameRate="30" ttp:frameRateMultiplier="1000 1001"';
const HALVES = 'ttp:frameRate="25" ttp:subFrameRate="2"';
const NESTED = '<div begin="10s" end="14s"><p begin="1s">A <span begin="1s" end="2s">B</span></p></div>';
const SEQUENCE =
  '<div timeContainer="seq"><p dur="1s">A</p><p dur="1s" begin="500ms">B</p><div><p begin="1s" end="2s">C</p></div>' +
  '<p timeContainer="seq" dur="3s"> <span dur="1s">D</span> <set begin="1s" dur="1s"/><span dur="1s">E</span></p></div>';

test.each([
  ["clock times", '<p begin="00:00:01.5" end="00:01:02.25">A</p>', "", ["1500-62250 A"]],
  ["offsets", '<p begin="1.5s" dur="250ms">A</p><p begin="1m" end="0.1h">B</p>', "", ["1500-1750 A", "60000-360000 B"]],
  ["frames of NTSC", '<p begin="00:00:01:15" end="60f">A</p>', NTSC, ["1501-2002 A"]],
  ["parts of frames", '<p begin="00:00:01:12.1" end="00:00:02:00">A</p>', HALVES, ["1500-2000 A"]],
  ["hours of one digit, and commas", '<p begin="1:00:01.5" end="1:00:02,5">A</p>', "", ["3601500-3602500 A"]],
  ["sequences", SEQUENCE, "", ["0-1000 A", "1500-2500 B", "3500-4500 C", "4500-5500 D", "5500-6500 E"]],
  ["ticks", '<p begin="10000000t" end="25000000t">A</p>', 'ttp:tickRate="10000000"', ["1000-2500 A"]],
  ["times inside of parents", NESTED, "", ["11000-14000 A", "12000-13000 B"]],
  ["wrong order", '<p begin="2s" end="3s">B</p><p begin="1s" end="4s">A</p>', "", ["1000-4000 A", "2000-3000 B"]],
  ["paragraphs without text or duration", '<p begin="1s" end="2s"> </p><p begin="2s" end="2s">A</p>', "", []],
])("TTML is parsed with %s", (_, body, attributes, expected) => {
  expect(cues(document(body, attributes))).toEqual(expected);
});

test("text keeps lines, styles, scripts and special characters", () => {
  const head = '<styling><style xml:id="loud" tts:fontWeight="bold"/></styling>';
  const body =
    '<p begin="1s" end="2s">\n  Tom &amp; <span tts:fontStyle="italic">&lt;Jerry&gt;</span><br/><br/>\n' +
    '<span style="loud">&#x7A7A;港</span> <metadata>no</metadata><![CDATA[<x>]]></p>';
  expect(parseTtml(document(body, "", head))?.cues[0]?.text).toBe(
    "Tom &amp; <i>&lt;Jerry&gt;</i>\n<b>空港</b> &lt;x&gt;",
  );
});

test("a bad time loses only its own cue, and a reading stays with its base", () => {
  const ruby =
    '<span tts:ruby="container"><span tts:ruby="base">漢字</span><span tts:ruby="delimiter">(</span>' +
    '<span tts:ruby="text">かんじ</span><span tts:ruby="delimiter">)</span></span>です';
  const bad = '<p begin="x" end="2s">A</p><p begin="00:00:01" end="1 s">B</p>';
  const read = parseTtml(document(`${bad}<p begin="1s" end="2s">${ruby}</p>`));
  expect(read?.cues.map(({ text }) => text)).toEqual(["<ruby>漢字<rt>かんじ</rt></ruby>です"]);
  expect(read?.badTimes).toEqual(["x", "1 s"]);
});

test.each([
  ["a DTD", document("").replace("<tt", '<!DOCTYPE tt [<!ENTITY a "b">]><tt')],
  ["SMPTE time codes", document('<p begin="1s" end="2s">A</p>', 'ttp:timeBase="smpte"')],
  ["another document", "<html><body/></html>"],
  ["deep elements", document(`<p begin="1s" end="2s">${"<span>".repeat(1000)}</p>`)],
])("a document with %s is rejected", (_, text) => {
  expect(parseTtml(text)).toBeNull();
});

test.each([
  ["attributes", document(`<p ${'a="b" '.repeat(300_000)} begin="1s" end="2s">A</p>`)],
  ["references", document(`<p begin="1s" end="2s">${"&amp;".repeat(400_000)}</p>`)],
  ["open tags", document("<".repeat(2e6))],
  ["paragraphs", document('<p begin="1s" end="2s">A</p>'.repeat(60_000))],
  ["blanks", `${" ".repeat(2e6)}x`],
])("2 MB of %s are parsed in linear time", (_, text) => {
  expect(isTtml(text)).toBe(!text.startsWith(" "));
  parseTtml(text);
});
