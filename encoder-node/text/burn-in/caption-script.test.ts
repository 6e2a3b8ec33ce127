import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CaptionStyle, DEFAULT_STYLE } from "#shared/job/burn.ts";
import { parseWebVtt } from "../subtitle-cues.ts";
import { captionScript } from "./caption-script.ts";

const STYLE: CaptionStyle = { ...DEFAULT_STYLE, size: 5 };
const FONT = { family: "Noto Sans", lineHeight: 1.5 };

function eventOf(settings: string, text: string, keepsStyle = true) {
  const vtt = parseWebVtt(`WEBVTT\n\n00:01.004 --> 00:02.006 ${settings}\n${text}\n`);
  return captionScript(vtt?.cues ?? [], STYLE, FONT, keepsStyle).events[0];
}

describe("WebVTT cues", () => {
  it.each([
    ["<b>a</b> <i>b</i> <u>c</u>", "{\\b1}a{\\b0} {\\i1}b{\\i0} {\\u1}c{\\u0}"],
    ["<c.yellow.bg_black>a</c> b", "{\\c&H00FFFF&}a{\\c} b"],
    ["<c.red>a<c.blue>b</c>c</c>d", "{\\c&H0000FF&}a{\\c&HFF0000&}b{\\c&H0000FF&}c{\\c}d"],
    ['<font color="#ff8800">a</font>b', "{\\c&H0088FF&}a{\\c}b"],
    ["<v Ann>Hi</v> <ruby>漢<rt>kan</rt></ruby>", "Hi 漢(kan)"],
    ["a &amp; b &lt;i&gt; &#233;&#x20AC; &nbsp;c", "a & b <i> é€ \u00A0c"],
    ["{\\pos(1,1)} C:\\new", "\\{\\\u2060pos(1,1)} C:\\\u2060new"],
    ["one\ntwo", "one\\Ntwo"],
  ])("writes %j as ASS", (text, expected) => expect(eventOf("", text)?.text).toBe(expected));

  it.each<[string, string, number[]]>([
    ["line:10%", "{\\an8}x", [0, 0, 100]],
    ["line:90%", "{\\an2}x", [0, 0, 50]],
    ["line:0", "{\\an8}x", [0, 0, 50]],
    ["line:-2", "{\\an2}x", [0, 0, 125]],
    ["align:left position:20%", "{\\an1}x", [200, 0, 0]],
    ["align:end position:80%,line-right", "{\\an3}x", [0, 200, 0]],
    ["position:30%", "{\\an2}x", [1, 400, 0]],
    ["size:50%", "x", [0, 0, 0]],
    ["line:nonsense position:-5%", "{\\an2}x", [0, 0, 0]],
  ])("places %s", (settings, text, margins) => expect(eventOf(settings, "x")).toMatchObject({ text, margins }));

  it("ignores places and colors without keep_style, and rounds times to hundredths", () => {
    expect(eventOf("line:0 align:left", "<c.red><b>x</b></c>", false)).toEqual({
      layer: 0,
      startMs: 1000,
      endMs: 2010,
      style: "Default",
      margins: [0, 0, 0],
      text: "x",
    });
  });

  it("writes only tags of its own for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string(), (text, settings) => {
        const written = eventOf(settings.replace(/[\r\n]/g, ""), text.replaceAll("-->", ""))?.text ?? "";
        const tags = written.replace(/\\\{/g, "").match(/\{[^}]*\}/g) ?? [];
        for (const tag of tags) expect(tag).toMatch(/^\{\\(?:[biu][01]|an[1-9]|c|c&H[0-9A-F]{6}&)\}$/);
      }),
    );
  });
});

it("writes the style of the request", () => {
  const { styles } = captionScript([], { ...STYLE, background: "#00000080", position: "top" }, FONT, true);
  expect(styles[0]).toMatchObject({ font: "Noto Sans", size: 75 });
  expect(styles[0]?.colors[3]).toEqual({ red: 0, green: 0, blue: 0, alpha: 127 });
  expect(styles[0]?.numbers).toEqual([0, 0, 0, 0, 100, 100, 0, 0, 4, 2.5, 6, 8, 50, 50, 50, 1]);
});
