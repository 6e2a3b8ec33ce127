import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { fileFolder, startServer, untilEnd } from "../../test/fixtures.ts";
import { fetchSubtitles } from "./fetch-subtitles.ts";

const SRT =
  "1\r\n00:00:01,000 --> 00:00:02,500\r\n<i>Größe</i>\r\nline two\r\n\r\n2\r\n01:00:03,500 --> 01:00:04,000\r\nEnd\r\n";
const VTT = "WEBVTT - a video\n\nSTYLE\n::cue { color: red }\n\nNOTE kept\n\n00:01.000 --> 00:02.500 line:0\nGröße\n";
const SAME_VTT = "WEBVTT\n\nSTYLE\n::cue { color: red }\n\n00:00:01.000 --> 00:00:02.500 line:0\nGröße\n";
const CONVERTED =
  "WEBVTT\n\n00:00:01.000 --> 00:00:02.500\n<i>Größe</i>\nline two\n\n01:00:03.500 --> 01:00:04.000\nEnd\n";
const ASS = `[Script Info]
ScriptType: v4.00+

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, Bold, Italic, Underline, Alignment, MarginL, MarginR, MarginV, Encoding
Style: Default,Arial,16,&Hffffff,0,0,0,2,10,10,10,0

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:01.00,0:00:02.50,Default,,0,0,0,,{\\pos(10,10)\\i1}Größe{\\i0}\\Nline two
Dialogue: 0,1:00:03.50,1:00:04.00,Default,,0,0,0,,End
`;
const TTML =
  '<?xml version="1.0"?><tt xmlns="http://www.w3.org/ns/ttml" xmlns:tts="http://www.w3.org/ns/ttml#styling"><body><div>';
const utf16be = (text: string): Buffer => Buffer.from(text, "utf16le").swap16();

const FILES: Readonly<Record<string, Buffer | string>> = {
  "/utf-8": SRT,
  "/mark": `\uFEFF${SRT}`,
  "/utf-16le": Buffer.from(`\uFEFF${SRT}`, "utf16le"),
  "/utf-16be": utf16be(`\uFEFF${SRT}`),
  "/utf-16-bare": utf16be(SRT),
  "/latin-1": Buffer.from(SRT, "latin1"),
  "/web": `\uFEFF${VTT.replaceAll("\n", "\r\n")}`,
  "/special": "1\n00:00:01,000 --> 00:00:02,000\n<i>Tom & 3 > 2</i> <3 &amp;\n",
  "/ass": ASS,
  "/ssa-utf-16": Buffer.from(`\uFEFF${ASS}`, "utf16le"),
  "/ttml": `${TTML}<p begin="1s" end="2.5s"><span tts:fontStyle="italic">Größe</span><br/>line two</p></div></body></tt>`,
  "/scc": "Scenarist_SCC V1.0\n\n00:00:01;00\t9420 9420 9470 9470 c849 942f 942f\n\n00:00:03;00\t942c 942c\n",
  "/bad-scc": "Scenarist_SCC V1.0\n\n00:00:01;00\n",
  "/bad-ttml": `${TTML}<p begin="1x" end="2.5s">A</p></div></body></tt>`,
  "/mixed": Buffer.concat([Buffer.from(`${SRT}\r\nL'été à `), Buffer.from([0xe9])]),
  "/mark-and-bad-byte": Buffer.concat([Buffer.from("\uFEFF1\n00:00:01,000 --> 00:00:02,000\n"), Buffer.from([0xe9])]),
  "/smpte": TTML.replace("<tt ", '<tt timeBase="smpte" '),
  "/half-ttml": `${TTML}<p begin="1x" end="2s">A</p><p begin="1s" end="2s">B</p></div></body></tt>`,
  "/page": "<html>Not found</html>",
  "/list": "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1/a.ts\n",
  "/nothing": "",
  "/odd-end": "WEBVTT \u2028x\n",
  "/odd-name": "WEBVTT\u2028\n",
  "/long": `WEBVTT\n\n${"00:00.000 --> 10:00:00.000\nalways here\n\n".repeat(1000)}`,
  "/nine-mb": `WEBVTT\n\n00:00.000 --> 00:01.000\n${"x".repeat(9e6)}\n`,
};

const folder = fileFolder();
const server = untilEnd(
  await startServer((request, response) => {
    const path = request.url ?? "";
    if (path === "/large") return response.writeHead(200, { "content-length": "10000001" }).end("x");
    return path in FILES ? response.end(FILES[path]) : response.writeHead(404).end();
  }),
);

const host = (): string => `127.0.0.1:${server.port}`;
const fetchAll = (
  paths: readonly string[],
  { language = "de", allowPrivate = "loopback" as "loopback" | "none", shiftMs = 0 } = {},
) =>
  fetchSubtitles(
    paths.map((path) => ({ source: { url: `http://${host()}${path}` }, language, name: "Deutsch", shiftMs })),
    { parent: folder, name: "0-subtitles" },
    { allowPrivate, signal: new AbortController().signal },
  );

it.each([
  ["/utf-8", CONVERTED],
  ["/mark", CONVERTED],
  ["/utf-16le", CONVERTED],
  ["/utf-16be", CONVERTED],
  ["/utf-16-bare", CONVERTED],
  ["/latin-1", CONVERTED],
  ["/ass", CONVERTED],
  ["/ssa-utf-16", CONVERTED],
  ["/ttml", "WEBVTT\n\n00:00:01.000 --> 00:00:02.500\n<i>Größe</i>\nline two\n"],
  ["/scc", "WEBVTT\n\n00:00:01.168 --> 00:00:03.003 line:84.67% position:10% align:start\nHI\n"],
  ["/web", SAME_VTT],
  ["/odd-end", "WEBVTT\n"],
])("makes WebVTT in UTF-8 of %s", async (path, expected) => {
  const fetched = await fetchAll([path]);
  expect(fetched).toHaveProperty("value.paths.length", 1);
  expect(fetched.ok && (await readFile(fetched.value.paths[0] ?? "", "utf8"))).toBe(expected);
});

it.each([
  ["/mixed", "de", "L'été à \uFFFD"],
  ["/mixed", "pl", "L'été à \uFFFD"],
  ["/mark-and-bad-byte", "de", "\uFFFD"],
])("reads %s in %s as UTF-8 with a note, because most of it is", async (path, language, line) => {
  const fetched = await fetchAll([path], { language });
  expect(fetched).toMatchObject({
    value: { notes: ["The subtitles `Deutsch`: letters that are not valid Unicode are shown as \uFFFD."] },
  });
  const text = await readFile((fetched.ok && fetched.value.paths[0]) || "", "utf8");
  expect(text.trimEnd().split("\n").at(-1)).toBe(line);
});

it("reads the rest of a TTML file with a bad time", async () => {
  const note = "The subtitles `Deutsch`: cues with a time that is not valid, such as `1x`, are left out.";
  expect(await fetchAll(["/half-ttml"])).toMatchObject({ value: { notes: [note] } });
});

it("escapes the text of SubRip, and keeps its italics", async () => {
  const fetched = await fetchAll(["/special"]);
  const text = await readFile((fetched.ok && fetched.value.paths[0]) || "", "utf8");
  expect(text.split("\n")[3]).toBe("<i>Tom &amp; 3 &gt; 2</i> &lt;3 &amp;");
});

it.each([
  [1500, "00:00:02.500 --> 00:00:04.000 line:0"],
  [-1500, "00:00:00.000 --> 00:00:01.000 line:0"],
  [-0.4, "00:00:01.000 --> 00:00:02.500 line:0"],
])("moves the times of a file by %d ms", async (shiftMs, times) => {
  const fetched = await fetchAll(["/web"], { shiftMs });
  expect(await readFile((fetched.ok && fetched.value.paths[0]) || "", "utf8")).toContain(times);
});

it.each([
  ["/page", "it is neither SubRip, WebVTT, ASS, TTML nor SCC"],
  ["/list", "it is neither SubRip, WebVTT, ASS, TTML nor SCC"],
  ["/nothing", "it is neither SubRip, WebVTT, ASS, TTML nor SCC"],
  ["/odd-name", "it is neither SubRip, WebVTT, ASS, TTML nor SCC"],
  ["/bad-ttml", "its time `1x` is not valid; use times such as 00:00:01.500, 00:00:01:12 or 1.5s"],
  ["/smpte", "it is not TTML with media times and without a DTD"],
  ["/bad-scc", "it is not SCC with timecodes and data"],
  ["/none", "the host responded with HTTP 404"],
  ["/large", "it is larger than 10 MB"],
])("explains for %s which subtitles cannot be used, and why", async (path, why) => {
  expect(await fetchAll(["/utf-8", path, "/web"])).toEqual({
    ok: false,
    error: {
      code: "subtitle_failed",
      message: `The subtitles \`Deutsch\` from the host \`${host()}\` cannot be used: ${why}.`,
    },
  });
});

it.each([
  ["/nine-mb", 3, "with it, the stream's subtitles are more than 20 MB"],
  ["/long", 3, "it has too many cues, or large styles, that are shown for too long"],
])("limits the total size of a stream's subtitles: %s", async (path, most, why) => {
  expect(await fetchAll(Array.from({ length: most - 1 }, () => path))).toHaveProperty("value.paths.length", most - 1);
  expect(await fetchAll(Array.from({ length: most }, () => path))).toMatchObject({
    error: { code: "subtitle_failed", message: expect.stringContaining(why) },
  });
});

it.each(["deu", "pt-BR", "spa-419"])("reads 8-bit text of %s as Windows-1252", async (language) => {
  expect(await fetchAll(["/latin-1"], { language })).toHaveProperty("value.paths.length", 1);
});

it("rejects 8-bit text of a language with several encodings", async () => {
  expect(await fetchAll(["/latin-1"], { language: "pl-PL" })).toMatchObject({
    error: { message: expect.stringContaining("not in UTF-8; save it in that encoding") },
  });
});

it("reaches allowed addresses only", async () => {
  expect(await fetchAll(["/utf-8"], { allowPrivate: "none" })).toMatchObject({
    error: { code: "subtitle_failed", message: expect.stringContaining("not public") },
  });
});
