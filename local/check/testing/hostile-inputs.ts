// Hostile texts and bytes of any size for parsers of captions, fonts and media. Where two parts of an input multiply,
// each is half of it.

type Hostile<Input> = (size: number) => Input;

/** Repeats a text, numbered from 0, up to a number of characters. */
function upTo(size: number, partOf: (at: number) => string): string {
  const parts: string[] = [];
  for (let [at, left] = [0, size]; left > 0; at++) {
    const part = partOf(at);
    parts.push(part);
    left -= part.length;
  }
  return parts.join("");
}

const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 23);
const cue = (fromMs: number, toMs: number, text = "a"): string => `${clock(fromMs)} --> ${clock(toMs)}\n${text}\n\n`;
const assClock = (ms: number): string => clock(ms).slice(1, 11);
const event = (fromMs: number, toMs: number, text = "a"): string =>
  `Dialogue: ${assClock(fromMs)},${assClock(toMs)},${text}\n`;
const ASS = "[Script Info]\nPlayResX: 640\n[Events]\nFormat: Start, End, Text\n";
const STYLES = "[Script Info]\n[V4+ Styles]\nFormat: Name, Fontname, Fontsize\n";
const ttml = (body: string, styling = ""): string =>
  `<tt xmlns:tts="urn:x"><head><styling>${styling}</styling></head><body><div>${body}</div></body></tt>`;
const paragraph = (text: string, attributes = ""): string => `<p begin="1s" end="2s" ${attributes}>${text}</p>`;
const scc = (lines: string): string => `Scenarist_SCC V1.0\n\n${lines}`;
const DAY_MS = 80_000_000;

export const hostileTexts = Object.entries<Hostile<string>>({
  "a long cue over short cues": (size) =>
    `WEBVTT\n\n${cue(0, DAY_MS, "x".repeat(size / 2))}${upTo(size / 2, (at) => cue(at * 10, at * 10 + 9))}`,
  "cues that all overlap": (size) => `WEBVTT\n\n${upTo(size, (at) => cue(at, DAY_MS + at))}`,
  "cues at the same time": (size) => `WEBVTT\n\n${upTo(size, () => cue(0, 1000))}`,
  "cues of a hundred years": (size) => `WEBVTT\n\n${upTo(size, () => "00:00.000 --> 800000:00:00.000\na\n\n")}`,
  "a cue of tags": (size) => `WEBVTT\n\n${cue(0, 1000, "<c.red>".repeat(size / 7))}`,
  "a cue of references": (size) => `WEBVTT\n\n${cue(0, 1000, "&amp;&#10;".repeat(size / 10))}`,
  "a cue of settings": (size) => `WEBVTT\n\n00:00.000 --> 00:01.000 ${"line:0 ".repeat(size / 7)}\na\n`,
  "a cue of lines": (size) => `WEBVTT\n\n${cue(0, 1000, "a\n".repeat(size / 2))}`,
  arrows: (size) => `WEBVTT\n\n${"-->\n".repeat(size / 4)}`,
  styles: (size) => `WEBVTT\n\n${"STYLE\na\n\n".repeat(size / 9)}${cue(0, DAY_MS)}`,
  "times without an end": (size) => `WEBVTT\n\n${"00:00.000 --> ".repeat(size / 14)}`,
  "a long cue of SubRip over short cues": (size) =>
    `1\n${cue(0, DAY_MS, "x".repeat(size / 2)).replaceAll(".", ",")}${upTo(size / 2, (at) => `${at}\n${cue(at, at + 1).replaceAll(".", ",")}`)}`,
  "a format of many fields for many lines": (size) =>
    `[Script Info]\n[Events]\nFormat: ${upTo(size / 8, (at) => `${at},`)}Start\n${upTo(size / 2, () => "Dialogue: x\n")}`,
  "many formats": (size) => ASS + upTo(size, (at) => `Format: Start,End,Text,${at}\n${event(0, 10)}`),
  "a long event over short events": (size) =>
    ASS +
    upTo(size / 2, () => event(0, 8_000_000, "x".repeat(10_000))) +
    upTo(size / 2, (at) => event(at * 10, at * 10 + 9)),
  "events that all overlap": (size) => ASS + upTo(size, (at) => event(at * 10, 8_000_000 + at * 10)),
  "events with fades": (size) => ASS + upTo(size, (at) => event(at * 10, 8_000_000, "{\\fad(1,2)\\t(0,1,\\fs9)\\k9}a")),
  "nested changes": (size) => ASS + upTo(size, () => event(0, 10, `{${"\\t(".repeat(5000)}\\fs9}a`)),
  "open blocks": (size) => ASS + upTo(size, () => event(0, 10, "{".repeat(19_000))),
  blocks: (size) => ASS + upTo(size, () => event(0, 10, "{\\p1}m{\\p0}".repeat(1500))),
  "a drawing": (size) => ASS + upTo(size, () => event(0, 10, `{\\p1}${"m 0 ".repeat(4500)}`)),
  "styles of ASS": (size) => `${STYLES}${upTo(size, (at) => `Style: ${at},Arial,9\n`)}`,
  sections: (size) => `[Script Info]\n${upTo(size, (at) => `[${at}]\n`)}`,
  "references to a style": (size) =>
    ttml(
      paragraph("a", `style="${"s ".repeat(size / 4)}"`),
      `<style xml:id="s" ${upTo(size / 2, (at) => `a${at}="b" `)}/>`,
    ),
  "elements that refer to a large style": (size) =>
    ttml(
      upTo(size / 2, () => paragraph("a", 'style="s"')),
      `<style xml:id="s" ${upTo(size / 2, (at) => `a${at}="b" `)}/>`,
    ),
  "elements that refer to many styles": (size) =>
    ttml(
      upTo(size / 2, () => paragraph("a", 'style="1 2 3"')),
      upTo(size / 2, (at) => `<style xml:id="${at}"/>`),
    ),
  paragraphs: (size) => ttml(upTo(size, () => paragraph("a"))),
  "spans in spans": (size) =>
    ttml(paragraph(`${'<span tts:fontWeight="bold">'.repeat(40)}${"<br/>a".repeat(size / 6)}${"</span>".repeat(40)}`)),
  "spans with times": (size) => ttml(paragraph(upTo(size, (at) => `<span begin="${at}ms">a</span>`))),
  "elements without an end": (size) => ttml("<span ".repeat(size / 6)),
  "empty elements": (size) => ttml("<p/>".repeat(size / 4)),
  attributes: (size) =>
    ttml(
      paragraph(
        "a",
        upTo(size, (at) => `a${at}="b" `),
      ),
    ),
  "pairs of SCC": (size) => scc(`00:00:00:00\t${"9420 9425 c1c1 ".repeat(size / 15)}`),
  "lines of SCC": (size) => scc(upTo(size, () => "00:00:00:00\t9425 c1c1 942d\n")),
  packets: (size) => upTo(size, (at) => `packet|stream_index=${at}|pts=1|dts=${at}|duration=1|size=1|flags=K__\n`),
  tracks: (size) => upTo(size, (at) => `stream|index=${at}|time_base=1/1000\n`),
  "comments before a page": (size) => "<!---->".repeat(size / 7),
  thumbnails: (size) => "thumbnails/1.jpg\n".repeat(size / 17),
  ...Object.fromEntries(
    [..." \n\ta1<>&{}[]()\\,:;#-\u0000\u00e9"].map((text) => [
      JSON.stringify(text),
      (size: number) => text.repeat(size),
    ]),
  ),
});

const box = (type: string, ...bodies: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(bodies);
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + body.length, 0);
  header.write(type, 4, "latin1");
  return Buffer.concat([header, body]);
};
const words = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, 4 * at);
  return bytes;
};
/** A hundred boxes on each level, up to a size. */
const many = (size: number, type: string): Buffer[] =>
  Array.from({ length: Math.min(4000, size / 8) }, () => box(type));

/** A font with these tables; all others are empty. */
function font(tables: Readonly<Record<string, Buffer>>): Buffer {
  const head = Buffer.alloc(54);
  head.writeUInt32BE(0x5f0f3cf5, 12);
  head.writeUInt16BE(1000, 18);
  const all = Object.entries({
    glyf: Buffer.alloc(4),
    head,
    hhea: Buffer.alloc(36),
    hmtx: Buffer.alloc(4),
    maxp: Buffer.alloc(6),
    ...tables,
  });
  let at = 12 + 16 * all.length;
  const entries = all.map(([tag, { length }]) => {
    at += length;
    return Buffer.concat([Buffer.from(tag), words(0, at - length, length)]);
  });
  const header = Buffer.alloc(12);
  header.writeUInt32BE(0x00010000, 0);
  header.writeUInt16BE(all.length, 4);
  return Buffer.concat([header, ...entries, ...all.map(([, bytes]) => bytes)]);
}

/** Half of the table are records of English or other names, which all name the other half. */
function names(size: number, language: number): Buffer {
  const count = Math.min(65_535, Math.floor(size / 24));
  const length = Math.min(65_534, Math.floor(size / 2));
  const table = Buffer.alloc(6 + 12 * count + size / 2, "\0A");
  table.writeUInt16BE(count, 2);
  table.writeUInt16BE(Math.min(65_535, 6 + 12 * count), 4);
  for (let record = 0; record < count; record++) {
    for (const [field, value] of [3, 1, language, 1, length, 0].entries())
      table.writeUInt16BE(value, 6 + 12 * record + 2 * field);
  }
  return table;
}

/** Half of the table are records of maps, which are all the other half: a map of that many groups. */
function groups(size: number): Buffer {
  const [records, count] = [Math.min(65_535, Math.floor(size / 16)), Math.floor(size / 24)];
  const at = 4 + 8 * records;
  const table = Buffer.alloc(at + 16 + 12 * count);
  table.writeUInt16BE(records, 2);
  for (let record = 0; record < records; record++) table.set(words((3 << 16) | 10, at), 4 + 8 * record);
  table.writeUInt16BE(12, at);
  table.writeUInt32BE(count, at + 12);
  for (let group = 0; group < count; group++)
    table.set(words(0x110000 + group, 0x110000 + group, 1), at + 16 + 12 * group);
  return table;
}

const NAME = names(48, 0x409);
/** A track whose tables declare far more samples than the file has. */
const track = (tables: Buffer): Buffer =>
  box(
    "moov",
    box("mvhd", words(0, 0, 0, 1000)),
    box(
      "trak",
      box(
        "mdia",
        box("mdhd", words(0, 0, 0, 1000)),
        box("hdlr", words(0, 0), Buffer.from("text")),
        box("minf", box("stbl", tables)),
      ),
    ),
  );
const samples = (size: number): Buffer =>
  Buffer.concat([
    box("stts", words(0, size / 16), ...Array.from({ length: size / 16 }, () => words(1, 1))),
    box("stsz", words(0, 1, 0xffffffff)),
    box("stsc", words(0, 1, 1, 1, 1)),
    box("stsd", words(0, 1)),
    box("stco", words(0, size / 8), Buffer.alloc(size / 2)),
  ]);
const run = box("trun", words(0, 1_000_000));
const fragment = (size: number): Buffer =>
  box(
    "traf",
    box("tfhd", words(0, 1)),
    box("tfdt", words(0, 0)),
    ...Array.from({ length: Math.min(4000, size / run.length) }, () => run),
  );
const repeated = (size: number, ...bytes: readonly number[]): Buffer => Buffer.alloc(size, Buffer.from(bytes));

export const hostileBytes = Object.entries<Hostile<Buffer>>({
  "English names that overlap": (size) => font({ name: names(size, 0x409), cmap: Buffer.alloc(4) }),
  "other names that overlap": (size) => font({ name: names(size, 0x407), cmap: Buffer.alloc(4) }),
  "maps of many groups": (size) => font({ name: NAME, cmap: groups(size) }),
  boxes: (size) => Buffer.concat(many(size, "trak")),
  "boxes in a movie": (size) => box("moov", ...many(size, "trak")),
  "boxes in boxes": (size) =>
    Array.from({ length: Math.min(2000, size / 8) }).reduce<Buffer>((inside) => box("trak", inside), Buffer.alloc(0)),
  samples: (size) => track(samples(size)),
  "the samples of a movie's body": (size) => track(samples(size)).subarray(8),
  "offsets of chunks": (size) => box("moov", box("trak", box("stco", words(0, size / 4), Buffer.alloc(size)))),
  "runs of many samples": fragment,
  "frames of ADTS": (size) => repeated(size, 0xff, 0xf1, 0x50, 0x80, 0x00, 0xe0, 0xfc),
  "start codes": (size) => repeated(size, 0, 0, 1),
  "parameter sets": (size) => repeated(size, 0, 0, 1, 0x67, 0x64),
  "marks of captions": (size) => repeated(size, 0x47, 0x41, 0x39, 0x34, 3, 0x5f),
  captions: (size) => repeated(size, 0x47, 0x41, 0x39, 0x34, 3, 0x41, 0xff, 0xfc, 0x94, 0x25, 0xff),
  "packets of MPEG-TS": (size) => repeated(size, 0x47, 0x40, 0, 0x10, 0),
  "segments of PGS": (size) => repeated(size, 0x14, 0, 0),
  "segments of DVB": (size) => repeated(size, 0x0f, 0x10, 0, 1, 0, 0),
  descriptors: (size) => repeated(size, 0x03, 0x80, 0x80, 0x04),
  ...Object.fromEntries(
    [0, 1, 0x20, 0x7f, 0xff].map((byte) => [`bytes ${byte}`, (size: number) => Buffer.alloc(size, byte)]),
  ),
});
