// All parsers of foreign texts and bytes take linear time, and return no more than a multiple of what they read.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serialize } from "node:v8";
import { parseSync } from "oxc-parser";
import { expect, it } from "vitest";
import { DEFAULT_STYLE } from "#shared/job/burn.ts";
import { audioOfAdts, audioOfConfig, secondsOfAdts } from "../../encoder-node/codecs/aac.ts";
import { readBits } from "../../encoder-node/codecs/bits.ts";
import {
  av1Codec,
  avcCodec,
  flacAudio,
  hevcCodec,
  opusAudio,
  vp9Codec,
} from "../../encoder-node/codecs/codec-strings.ts";
import { audioOfAc3, audioOfDac3, audioOfDec3, secondsOfAc3 } from "../../encoder-node/codecs/dolby.ts";
import { describeSps, findSps } from "../../encoder-node/codecs/h264-sps.ts";
import { bodyAt, boxesIn, boxHeader } from "../../encoder-node/mp4/boxes.ts";
import { readFragment } from "../../encoder-node/mp4/fragments.ts";
import { boxOf, movedIndex } from "../../encoder-node/mp4/index-first.ts";
import { decoderConfig, readMovieHeader, sampleEntries, timescaleOf, trackKind } from "../../encoder-node/mp4/movie.ts";
import { outlinedTracks } from "../../encoder-node/mp4/samples.ts";
import {
  elementaryStream,
  isRandomAccess,
  packetHeader,
  payloadOf,
  pesStart,
  programMapPid,
} from "../../encoder-node/package/mpegts/ts-packets.ts";
import { thumbnailVtt } from "../../encoder-node/package/text-files.ts";
import { PacketList } from "../../encoder-node/source/frame-index/packet-list.ts";
import { splitLines } from "../../encoder-node/source/frame-index/run-packet-listing.ts";
import { firstSamples } from "../../encoder-node/source/outline/mp4-outline.ts";
import { kindOf, unsupportedFormat } from "../../encoder-node/source/probe/not-media.ts";
import { frameTooLarge } from "../../encoder-node/source/probe/run-ffprobe.ts";
import { assCues } from "../../encoder-node/text/ass/ass-cues.ts";
import { cleanPlain, clippedAss, isAss, literalText, splitBlocks } from "../../encoder-node/text/ass/ass-script.ts";
import { cleanText } from "../../encoder-node/text/ass/ass-tags.ts";
import { requestedColor } from "../../encoder-node/text/ass/caption-colors.ts";
import { parseAss } from "../../encoder-node/text/ass/parse-ass.ts";
import { canvasSize } from "../../encoder-node/text/burn-in/bitmap-canvas.ts";
import { glyphsIn, readFont } from "../../encoder-node/text/burn-in/font-file.ts";
import { familyIn } from "../../encoder-node/text/burn-in/node-fonts.ts";
import { captionPairs } from "../../encoder-node/text/closed-captions/caption-pairs.ts";
import { decodePairs } from "../../encoder-node/text/closed-captions/decode-pairs.ts";
import { isScc, parseScc } from "../../encoder-node/text/closed-captions/scc.ts";
import { decodedReferences, escapedMarkup, escapedText, withReadings } from "../../encoder-node/text/escaped-text.ts";
import { type ForeignFile, PARSERS, type Parsers } from "../../encoder-node/text/parsing/parsers.ts";
import { readSubtitle } from "../../encoder-node/text/parsing/subtitle-text.ts";
import { separateCues } from "../../encoder-node/text/separate-cues.ts";
import { isSubRip, parseSubRip, subRipText } from "../../encoder-node/text/subrip.ts";
import {
  isWebVtt,
  linesOf,
  movedCues,
  parseWebVtt,
  plainLines,
  webVttText,
} from "../../encoder-node/text/subtitle-cues.ts";
import { segmentCharacters } from "../../encoder-node/text/subtitle-segments.ts";
import { isTtml, parseTtml } from "../../encoder-node/text/ttml.ts";
import { fileFolder } from "../../test/fixtures.ts";
import { ROOT } from "../home/constants.ts";
import { isProduction, listFiles } from "./files.ts";
import { hostileBytes, hostileTexts } from "./testing/hostile-inputs.ts";

const CHOSEN = { family: "Noto Sans", lineHeight: 1.3, path: "" };
const FONT_OF = familyIn({ known: [CHOSEN] });
const ASS = { fontOf: FONT_OF, fallback: "Noto Sans" };
const TAGS = { styles: new Set(["Default"]), fontOf: FONT_OF, width: 640, height: 360 };
const BURN = { style: DEFAULT_STYLE, keepsStyle: true, shiftMs: 500 };
const KNOWN = { language: "en", format: null };
const PART = { fromMs: 0, toMs: 1e6, leadMs: 0 };
const DEFAULTS = { duration: 1, sizeBytes: 1, flags: 0 };

/** The parsers of texts. A row may have the steps after a parser, as its callers take them. */
const OF_TEXT: Readonly<Record<string, (text: string) => unknown>> = {
  cleanText: (text) => cleanText(text, TAGS),
  splitBlocks: (text) => [...splitBlocks(text)].length,
  cleanPlain,
  literalText,
  requestedColor,
  parseAss: (text) => parseAss(text, ASS),
  assCues,
  isScc,
  parseScc,
  isAss,
  clippedAss: (text) => clippedAss(text, 500, PART),
  escapedMarkup,
  escapedText,
  decodedReferences,
  withReadings,
  isSubRip,
  parseSubRip: (text) => parseSubRip(text, true),
  linesOf: (text) => [...linesOf(text)].length,
  isWebVtt,
  parseWebVtt: (text) => {
    const parsed = parseWebVtt(text);
    const moved = parsed && movedCues(parsed, 500);
    return moved && [separateCues(moved), webVttText(moved), subRipText(moved), segmentCharacters(moved)];
  },
  plainLines,
  thumbnailVtt: (text) => thumbnailVtt(text, "folder"),
  isTtml,
  parseTtml,
  unsupportedFormat,
  kindOf,
  frameTooLarge,
  // Lists of packets are read by a class.
  PacketList: (text) => {
    const packets = new PacketList(0);
    const onLine = (line: string): boolean => {
      packets.addLine(line);
      return packets.fits;
    };
    splitLines(onLine)(text);
    return [packets.steps, packets.tickSeconds];
  },
};

const OF_BYTES: Readonly<Record<string, (bytes: Buffer) => unknown>> = {
  readFont,
  glyphsIn: (bytes) => {
    const hasGlyph = glyphsIn(bytes);
    return Array.from({ length: 200 }, (_, letter) => hasGlyph(letter * 300)).length;
  },
  canvasSize: (bytes) =>
    ["hdmv_pgs_subtitle", "dvb_subtitle", "dvd_subtitle"].map((codec_name) =>
      canvasSize({ codec_name }, bytes, { streams: [], format: {} }),
    ),
  captionPairs: (bytes) => {
    const times = `#tb 0: 1/1000\n0, 0, 0, 1, ${bytes.length}, 0x0\n`;
    return [...decodePairs(captionPairs(bytes, times), 1e6)];
  },
  audioOfConfig,
  audioOfAdts,
  secondsOfAdts,
  readBits: (bytes) => readBits(bytes).take(8),
  audioOfAc3,
  secondsOfAc3,
  audioOfDac3,
  audioOfDec3,
  opusAudio,
  flacAudio,
  vp9Codec,
  av1Codec: (bytes) => av1Codec(bytes, bytes),
  avcCodec: (bytes) => avcCodec("avc1", bytes),
  hevcCodec: (bytes) => hevcCodec("hvc1", bytes),
  findSps,
  describeSps,
  boxHeader,
  boxesIn,
  bodyAt: (bytes) => bodyAt(bytes, "moov/trak"),
  boxOf: (bytes) => boxOf("moov", bytes).length,
  movedIndex: (bytes) => movedIndex(bytes, (size) => size),
  decoderConfig,
  readFragment: (bytes) => readFragment(bytes, DEFAULTS, "audio"),
  readMovieHeader,
  sampleEntries,
  timescaleOf,
  trackKind,
  packetHeader: (bytes) => packetHeader(bytes, 0),
  payloadOf,
  isRandomAccess,
  programMapPid,
  elementaryStream,
  pesStart,
  readSubtitle: (bytes) => readSubtitle(bytes, "en"),
  firstSamples,
  outlinedTracks: (bytes) => outlinedTracks(bytes)?.length,
};

/** The parsers that run in a process of their own, with all steps that follow there. */
const ISOLATED: Readonly<Record<keyof Parsers, (file: ForeignFile) => Promise<unknown>>> = {
  captionScript: (file) => PARSERS.captionScript(file, KNOWN, BURN, { chosen: CHOSEN, known: [] }),
  preparedText: (file) => PARSERS.preparedText(file, KNOWN, 500),
  channelTexts: (file) => PARSERS.channelTexts(file, file, 1e6),
  clippedTrack: (file) => PARSERS.clippedTrack(file, 500, PART),
  speechText: (file) => PARSERS.speechText(file, 500),
};

/** Steps of the isolated parsers, which are tried there. */
const ISOLATED_STEPS = ["scriptOf"];

/** The rooms with parsers, and parameters that are texts of this program. */
const ROOMS = /^encoder-node\/(?:codecs|mp4|package\/mpegts|text|source\/(?:frame-index|outline|probe))\//;
const OWN = new Set(["path", "url", "name", "type", "folder", "subject", "message"]);

/** Exported functions that get bytes, or first a text. */
function parsersIn(file: string): string[] {
  const source = readFileSync(join(ROOT, file), "utf8");
  return parseSync(file, source).program.body.flatMap((node) => {
    const declared = node.type === "ExportNamedDeclaration" ? node.declaration : null;
    const functions =
      declared?.type === "FunctionDeclaration"
        ? [{ name: declared.id?.name ?? "", code: declared }]
        : declared?.type === "VariableDeclaration"
          ? declared.declarations.flatMap(({ id, init }) =>
              id.type === "Identifier" && init?.type === "ArrowFunctionExpression"
                ? [{ name: id.name, code: init }]
                : [],
            )
          : [];
    return functions.flatMap(({ name, code }) => {
      const isParser = code.params.some((param, at) => {
        const type = "typeAnnotation" in param ? param.typeAnnotation?.typeAnnotation : null;
        const written = type ? source.slice(type.start, type.end) : "";
        const isText = at === 0 && written === "string" && param.type === "Identifier" && !OWN.has(param.name);
        return isText || /^(?:Buffer|Uint8Array|DataView)$/.test(written);
      });
      return isParser && !code.async ? [name] : [];
    });
  });
}

it("has all parsers of the rooms with parsers", () => {
  const all = listFiles()
    .filter((file) => isProduction(file) && ROOMS.test(file))
    .flatMap(parsersIn);
  expect([...Object.keys(OF_TEXT), ...Object.keys(OF_BYTES), ...ISOLATED_STEPS].toSorted()).toEqual(
    expect.arrayContaining(all.toSorted()),
  );
});

/** The small text. Smaller ones fit the caches of the processor: a text four times as long takes nine times as long. */
const SIZE = 50_000;
/** Four times the input takes four times as long, and 16 times in quadratic time. */
const [GROWTH, MOST_GROWTH] = [4, 8];
/** Below these, growth does not matter: budgets end at fixed costs. */
const FLOOR = { seconds: 0.6, bytes: 120e6 };
/** Text of captions that overlap is written many times, within a budget. */
const RESULT_BYTES_PER_SECOND = 10e6;
/** Noise of the machine is never in all of them. */
const TRIES = 3;

type Cost = { readonly seconds: number; readonly bytes: number };

/** The processor time of this thread, and the size of the result. A text that is refused has no result. */
async function costOf(parse: () => unknown): Promise<Cost> {
  const before = process.threadCpuUsage();
  const result = await new Promise<unknown>((resolve) => resolve(parse())).catch(() => null);
  const { user, system } = process.threadCpuUsage(before);
  return { seconds: (user + system) / 1e6, bytes: typeof result === "object" ? serialize(result).length : 0 };
}

type Sized<Input> = { readonly name: string; readonly small: Input; readonly large: Input };

/** The inputs are made once for all parsers. */
const sized = <Input>(rows: readonly (readonly [string, (size: number) => Input])[]): Sized<Input>[] =>
  rows.map(([name, make]) => ({ name, small: make(SIZE), large: make(SIZE * GROWTH) }));
const [TEXTS, BYTES] = [sized(hostileTexts), sized(hostileBytes)];

/** The inputs for which a parser takes too much, with the costs of the small and the large input. */
async function problemsOf<Input>(parse: (input: Input) => unknown, inputs: readonly Sized<Input>[]): Promise<string[]> {
  const problems: string[] = [];
  for (const { name, ...input } of inputs) {
    let problem: string | null = "";
    for (let left = TRIES; left > 0 && problem !== null; left--) {
      const large = await costOf(() => parse(input.large));
      if (large.bytes <= FLOOR.bytes && large.seconds <= FLOOR.seconds) problem = null;
      else problem = growthProblem(name, await costOf(() => parse(input.small)), large);
    }
    if (problem !== null) problems.push(problem);
  }
  return problems;
}

function growthProblem(name: string, small: Cost, large: Cost): string | null {
  const mostOf = (what: keyof Cost): number => Math.max(FLOOR[what], MOST_GROWTH * small[what]);
  const isFine =
    large.bytes <= mostOf("bytes") && large.seconds <= mostOf("seconds") + large.bytes / RESULT_BYTES_PER_SECOND;
  return isFine ? null : `${name}: ${JSON.stringify({ small, large })}`;
}

it.each(Object.entries(OF_TEXT))("%s reads hostile texts in linear time and memory", async (_, parse) => {
  expect(await problemsOf(parse, TEXTS)).toEqual([]);
});

it.each(Object.entries(OF_BYTES))("%s reads hostile bytes in linear time and memory", async (_, parse) => {
  expect(await problemsOf(parse, BYTES)).toEqual([]);
});

const path = join(fileFolder(), "file");

it.each(Object.entries(ISOLATED))("%s reads hostile files in linear time and memory", async (_, parse) => {
  const read = (content: string | Buffer): unknown => {
    writeFileSync(path, content);
    return parse({ path, maxBytes: 1e9 });
  };
  expect(await problemsOf(read, [...TEXTS, ...BYTES])).toEqual([]);
});
