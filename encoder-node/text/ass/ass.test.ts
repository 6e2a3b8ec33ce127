// ASS scripts of clients, read and written again.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assCues } from "./ass-cues.ts";
import { type AssEvent, assText, isAss } from "./ass-script.ts";
import { cleanText, type TagContext } from "./ass-tags.ts";
import { parseAss } from "./parse-ass.ts";
import { separateEvents, shiftEvents } from "./separate-events.ts";

const CONTEXT: TagContext = {
  styles: new Set(["Default", "Top"]),
  fontOf: (name) => (name === "Noto Sans" ? name : null),
  width: 640,
  height: 360,
};
const FONTS = { fontOf: CONTEXT.fontOf, fallback: "Noto Sans" };

describe("override tags", () => {
  it.each([
    ["{\\b1\\i1}x{\\b0}", "{\\b1\\i1}x{\\b0}"],
    ["{\\pos(10,20)}x", "{\\pos(10,20)}x"],
    ["{\\move(1, 2,3 ,4,100,200)}x", "{\\move(1,2,3,4,100,200)}x"],
    ["{\\fad(100,200.7)}x", "{\\fad(100,200)}x"],
    ["{\\c&H0000ff&\\3c&HABCDEF&\\alpha&H80&}x", "{\\c&H0000FF&\\3c&HABCDEF&\\alpha&H80&}x"],
    ["{\\k20}a{\\kf30}b{\\ko1}c{\\K5}d", "{\\k20}a{\\kf30}b{\\ko1}c{\\K5}d"],
    ["{\\t(0,500,2,\\fscx150\\c&HFF&)}x", "{\\t(0,500,2,\\fscx150\\c&H0000FF&)}x"],
    ["{\\t(\\clip(0,0,10,10))}x", "{\\t(\\clip(0,0,10,10))}x"],
    ["{\\rTop}x{\\rOther}y", "{\\rTop}x{\\r}y"],
    ["{\\fnNoto Sans}x", "{\\fnNoto Sans}x"],
    ["a\\Nb\\hc", "a\\Nb\\hc"],
  ])("keeps %s", (text, expected) => expect(cleanText(text, CONTEXT)).toBe(expected));

  it.each([
    ["{\\fn../../etc/passwd}x", "x"],
    ["{\\fs99999\\blur1000}x", "{\\fs5000\\blur50}x"],
    ["{\\fs1e9\\bord-5\\fsp0x10}x", "{\\bord0}x"],
    ["{\\pos(1)\\org()\\move(1,2,3)}x", "x"],
    ["{\\clip(1,m 0 0 l 9 9)}x", "x"],
    ["{\\t(0,1,\\pos(1,2)\\fnX)}x", "x"],
    ["{\\unknown9\\img(1.png)}x", "x"],
    ["{comment}x", "x"],
    ["{\\p1}m 0 0 l 100 0 100 100{\\p0}x", "{\\p1}m 0 0 l 100 0 100 100{\\p0}x"],
    ["{\\p1}m 0 0 l 99999 0 0 9{\\p0}x", "{\\p1}{\\p0}x"],
    ["{\\p1}m 0 0 evil{\\p0}x", "{\\p1}{\\p0}x"],
    ["a\u0000b\u001bc", "abc"],
    ["C:\\temp", "C:\\\u2060temp"],
    ["open { brace", "open \\{ brace"],
  ])("drops or bounds what is not allowed in %j", (text, expected) => expect(cleanText(text, CONTEXT)).toBe(expected));
});

const script = (styles: string, events: string): string =>
  `[Script Info]\nPlayResX: 640\nPlayResY: 360\n\n${styles}\n\n[Fonts]\nfontname: evil.ttf\nAAAA\n\n[Events]\n${events}`;
const FORMAT = "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text";

describe("scripts", () => {
  it("writes styles and events again, without fonts, effects and comments", () => {
    const parsed = parseAss(
      script(
        "[V4+ Styles]\nFormat: Name, Fontname, Fontsize, PrimaryColour, Bold\nStyle: Default,Arial,40,&H80FF0000,-1",
        `${FORMAT}\nComment: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,no\nDialogue: 2,0:00:01.50,0:00:02.00,Gone,Me,1,2,3,Banner;5,Hi, there`,
      ),
      FONTS,
    );
    if (typeof parsed === "string") throw new Error(parsed);
    const text = assText(parsed, "sdr");
    expect(text).toContain("Style: Default,Noto Sans,40,&H80FF0000,&H0000FFFF,");
    expect(text).toContain("Dialogue: 2,0:00:01.50,0:00:02.00,Default,,1,2,3,,Hi, there");
    expect(text).not.toMatch(/evil|Banner|,no|Arial/);
  });

  it("reads SSA, with its alignments and decimal colors", () => {
    const parsed = parseAss(
      script(
        "[V4 Styles]\nFormat: Name, Fontname, Fontsize, PrimaryColour, Alignment\nStyle: *Default,Arial,20,65535,6",
        "Format: Marked, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\nDialogue: Marked=0,0:00:01.00,0:00:02.00,*Default,,0,0,0,,x",
      ),
      FONTS,
    );
    expect(parsed).toMatchObject({
      styles: [{ name: "Default", colors: [{ red: 255, green: 255, blue: 0 }, {}, {}, {}] }],
      events: [{ style: "Default", startMs: 1000 }],
    });
    expect(typeof parsed === "string" ? [] : parsed.styles[0]?.numbers[11]).toBe(8);
  });

  it("maps colors to the light of white paper in HDR", () => {
    const events = `${FORMAT}\nDialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,{\\c&HFFFFFF&}x &HFFFFFF&`;
    const parsed = parseAss(script("", events), FONTS);
    if (typeof parsed === "string") throw new Error(parsed);
    expect(assText(parsed, "pq")).toContain("{\\c&H949494&}x &HFFFFFF&");
    expect(assText(parsed, "hlg")).toContain("{\\c&HBFBFBF&}x &HFFFFFF&");
  });

  it("writes nothing but known lines for any text", () => {
    const pieces = fc.constantFrom(
      ...["[Script Info]", "[Events]", "[V4+ Styles]", FORMAT, "Style: a,b", "Dialogue: 0,0:00:00.00,9:00:00.00,"],
      ...["\n", "{", "}", "\\", "(", ")", ",", "\\t(", "\\pos(", "\\fn", "\\p9", "&H", "999999999", "-", "PlayResX:"],
      ...["\u2028", "\u0000", "\r", "é", "[Fonts]", "\\k", "\\clip(m 0 0)"],
    );
    const texts = fc.array(fc.oneof(pieces, fc.string()), { maxLength: 60 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(texts, (body) => {
        const parsed = parseAss(`[Script Info]\n${body}`, FONTS);
        if (typeof parsed === "string") return;
        const known =
          /^(?:\[(?:Script Info|V4\+ Styles|Events)\]|(?:ScriptType|PlayRes[XY]|WrapStyle|ScaledBorderAndShadow|YCbCr Matrix|Format|Style): .*|Dialogue: \d+,\d+:\d\d:\d\d\.\d\d,\d+:\d\d:\d\d\.\d\d,[^,{}\\]*,,\d+,\d+,\d+,,.*|)$/;
        for (const line of assText(parsed, "pq").split("\n")) expect(line).toMatch(known);
      }),
    );
  });

  it("recognizes ASS by its first section", () => {
    expect([isAss("\n[Script Info]\n"), isAss("[script info]"), isAss("WEBVTT"), isAss("1\n[Script Info]")]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it("reads long lines without end in time", () => {
    for (const text of ["{".repeat(1e6), "\\t(".repeat(3e5), `{${"\\fad(".repeat(2e5)}}`, ",".repeat(1e6)]) {
      const body = `[Script Info]\n[Events]\n${FORMAT}\nDialogue: 0,0:00:00.00,0:00:01.00,a,,0,0,0,,${text}`;
      expect(parseAss(body, FONTS)).toMatchObject({ events: [] });
    }
  });
});

const event = (startMs: number, endMs: number, text: string, layer = 0): AssEvent => ({
  layer,
  startMs,
  endMs,
  style: "Default",
  margins: [0, 0, 0],
  text,
});
const brief = (events: readonly AssEvent[] | null) => events?.map(({ startMs, endMs, text }) => [startMs, endMs, text]);

describe("events that overlap", () => {
  it("are divided where a neighbor starts or ends", () => {
    const events = [event(0, 3000, "a"), event(1000, 5000, "b"), event(6000, 7000, "c"), event(2000, 4000, "other", 1)];
    expect(brief(separateEvents(events))).toEqual([
      [0, 1000, "a"],
      [1000, 3000, "a"],
      [1000, 3000, "b"],
      [3000, 5000, "b"],
      [6000, 7000, "c"],
      [2000, 4000, "other"],
    ]);
  });

  it("stay whole if they state their places", () => {
    const events = [event(0, 3000, "{\\pos(1,1)}a"), event(1000, 5000, "{\\move(1,1,2,2)}b"), event(0, 9000, "c")];
    expect(separateEvents(events)).toEqual(events);
  });

  it("are refused if there would be far too many parts", () => {
    const events = Array.from({ length: 1000 }, (_, at) => event(at * 10, 20_000 + at * 10, "x"));
    expect(() => separateEvents(events)).toThrow("too many of its captions overlap");
  });

  it("continue fades, movements, changes and karaoke after a shift", () => {
    const text = "{\\fad(100,200)\\t(\\fs9)\\t(500,900,2,\\fs3)\\move(1,2,3,4)\\k50}a{\\kf20}b";
    expect(brief(shiftEvents([event(0, 2000, text), event(0, 400, "gone")], -400))).toEqual([
      [
        0,
        1600,
        "{\\k-40}{\\fade(255,0,255,-400,-300,1400,1600)\\t(-400,1600,\\fs9)\\t(100,500,2,\\fs3)\\move(1,2,3,4,-400,1600)\\k50}a{\\kf20}b",
      ],
    ]);
    expect(brief(shiftEvents([event(0, 2000, "{\\fade(1,2,3,4,5,6,7)\\move(1,2,3,4,0,90)}a")], -100))).toEqual([
      [0, 1900, "{\\fade(1,2,3,-96,-95,-94,-93)\\pos(3,4)}a"],
    ]);
  });
});

describe("cues of ASS", () => {
  const styles =
    "[V4+ Styles]\nFormat: Name, Fontname, Fontsize, Bold, Italic, Underline\nStyle: Default,Arial,40,0,0,0\nStyle: Loud,Arial,40,-1,0,0";
  const cuesOf = (text: string, style = "Default") =>
    assCues(script(styles, `${FORMAT}\nDialogue: 0,0:00:01.00,0:00:02.50,${style},,0,0,0,,${text}`)).cues.map(
      ({ text }) => text,
    );

  it.each([
    ["{\\p1}m 0 0 l 100 0 100 50 0 50{\\p0}", []],
    ["{\\p1}m 0 0 l 9 9{\\p0}Text", ["Text"]],
    ["{\\pos(1,2)\\i1}It{\\blur2}alic{\\i0} & <b>\\Nnext\\hline", ["<i>Italic</i> &amp; &lt;b&gt;\nnext\u00A0line"]],
    ["{\\b1\\u1}A{\\r}B{\\rLoud}C", ["<b><u>A</u></b>B<b>C</b>"]],
    ["{\\fnArial\\c&HFF&}a{comment}b\\N\\N c:\\temp {", ["ab\nc:\\temp {"]],
    ["{\\i1} ", []],
  ])("have the text of %s, without drawings", (text, expected) => expect(cuesOf(text)).toEqual(expected));

  it("have the styles of their events, and the order of their times", () => {
    expect(cuesOf("A{\\b0}B{\\b}C", "Loud")).toEqual(["<b>A</b>B<b>C</b>"]);
    const events = ["3.00,0:00:04.00", "1.00,0:00:02.00"].map(
      (times) => `Dialogue: 0,0:00:0${times},Default,,0,0,0,,A`,
    );
    expect(assCues(script(styles, `${FORMAT}\n${events.join("\n")}`)).cues.map(({ startMs }) => startMs)).toEqual([
      1000, 3000,
    ]);
    expect(assCues("[Script Info]\n").cues).toEqual([]);
  });
});
