// The parsers of foreign texts that run in a process of their own (isolated.ts). Arguments and results are data. All
// throw AppError `subtitle_failed` for a text that is not usable.
import * as z from "zod";
import { AppError } from "#shared/errors.ts";
import type { BurnSpec } from "#shared/job/burn.ts";
import { speechLanguage } from "#shared/job/speech.ts";
import type { CaptionChannel } from "#shared/job/subtitles.ts";
import { UNDETERMINED } from "#shared/media/languages.ts";
import { readBytes } from "../../run-files/open-file.ts";
import { type AssScript, clippedAss, toHundredths } from "../ass/ass-script.ts";
import { parseAss } from "../ass/parse-ass.ts";
import { separateEvents, shiftEvents } from "../ass/separate-events.ts";
import { captionScript } from "../burn-in/caption-script.ts";
import { checkLetters, type Fonts, familyIn } from "../burn-in/node-fonts.ts";
import { captionPairs } from "../closed-captions/caption-pairs.ts";
import { decodePairs } from "../closed-captions/decode-pairs.ts";
import { decodedReferences } from "../escaped-text.ts";
import { speechCues } from "../speech-cues.ts";
import { MAX_CUE_MS, movedCues, type ShownPart, webVttText } from "../subtitle-cues.ts";
import { segmentCharacters } from "../subtitle-segments.ts";
import { cuesOf, readSubtitle, type SubtitleFormat, type SubtitleText } from "./subtitle-text.ts";

/** A file of at most `maxBytes`. */
export type ForeignFile = { readonly path: string; readonly maxBytes: number };

/** A conversion may leave a file of any content, or none. */
const bytesOf = ({ path, maxBytes }: ForeignFile): Promise<Buffer> =>
  readBytes(path, maxBytes).catch((error: unknown) => {
    const message = `it is not readable text of at most ${maxBytes / 1e6} MB`;
    throw new AppError("subtitle_failed", message, { cause: error });
  });

/** `format`: of a track of the input; null for a file of a client. */
type KnownText = { readonly language: string; readonly format: SubtitleFormat | null };

const subtitleIn = async (file: ForeignFile, { language, format }: KnownText): Promise<SubtitleText> =>
  readSubtitle(await bytesOf(file), language, format);

const textOf = async (file: ForeignFile): Promise<string> => (await bytesOf(file)).toString();

/** ASS with effects has tens of thousands. Later steps read the cues in the node's own process. */
const MAX_CUES = 100_000;

/** The file of the engine, in which foreign audio may have caused any content. */
const Time = z.number().min(0).max(MAX_CUE_MS);
const Transcript = z.object({
  language: z.string(),
  segments: z.array(z.object({ text: z.string(), t0: Time, t1: Time })),
});

function transcriptIn(text: string): z.infer<typeof Transcript> {
  try {
    return Transcript.parse(JSON.parse(text));
  } catch (cause) {
    throw new AppError("subtitle_failed", "the engine's result is damaged", { cause });
  }
}

const WORDS = new Intl.Segmenter(undefined, { granularity: "word" });
const wordsIn = (text: string): number => [...WORDS.segment(text)].filter(({ isWordLike }) => isWordLike).length;

export const PARSERS = {
  /** The script for captions to draw (`scriptOf`). */
  async captionScript(file: ForeignFile, known: KnownText, burn: BurnSpec, fonts: Fonts): Promise<Script> {
    const script = scriptOf(await subtitleIn(file, known), burn, fonts);
    await checkLetters(script.script, fonts.known);
    return script;
  },

  /** A file of subtitles as WebVTT with its times moved; `characters`: the length of all its segments in HLS. */
  async preparedText(
    file: ForeignFile,
    known: KnownText,
    shiftMs: number,
  ): Promise<{ text: string; bytes: number; characters: number; notes: readonly string[] }> {
    const { text: read, notes } = cuesOf(await subtitleIn(file, known));
    if (read.cues.length > MAX_CUES) throw new AppError("subtitle_failed", `it has more than ${MAX_CUES} cues`);
    const moved = movedCues(read, shiftMs);
    const text = webVttText(moved);
    return { text, bytes: Buffer.byteLength(text), characters: segmentCharacters(moved), notes };
  },

  /** The closed captions of each channel that has some, as WebVTT (`captionPairs`, `decodePairs`). */
  async channelTexts(
    units: ForeignFile,
    times: ForeignFile,
    endMs: number,
  ): Promise<(readonly [channel: CaptionChannel, text: string])[]> {
    const channels = decodePairs(captionPairs(await bytesOf(units), await textOf(times)), endMs);
    return [...channels].flatMap(([channel, cues]) =>
      cues.length === 0 ? [] : [[channel, webVttText({ definitions: [], cues })] as const],
    );
  },

  /** Segments of recognized speech as WebVTT, moved by `fromMs`. `language`: Whisper's code, or `und`. */
  async speechText(file: ForeignFile, fromMs: number): Promise<{ text: string; language: string; words: number }> {
    const { segments, language } = transcriptIn(await textOf(file));
    const cues = speechCues(segments.map(({ text, t0, t1 }) => ({ text, t0: t0 + fromMs, t1: t1 + fromMs })));
    const words = cues.reduce((sum, { text }) => sum + wordsIn(decodedReferences(text)), 0);
    return { text: webVttText({ definitions: [], cues }), language: speechLanguage(language) ?? UNDETERMINED, words };
  },

  /** A track of ASS for a part of the source (`clippedAss`). */
  async clippedTrack(file: ForeignFile, shiftMs: number, part: ShownPart): Promise<string> {
    return clippedAss(await textOf(file), shiftMs, part);
  },
} as const;

export type Parsers = typeof PARSERS;

// Writes the text of a caption file as the script of an output.

export type Script = { readonly script: AssScript; readonly notes: readonly string[] };

/** Throws AppError `subtitle_failed` if the text is not usable. */
export function scriptOf(read: SubtitleText, burn: BurnSpec, fonts: Fonts): Script {
  const { script, notes } = unseparated(read, burn, fonts);
  const events = separateEvents(shiftEvents(script.events, toHundredths(burn.shiftMs)));
  return { script: { ...script, events }, notes };
}

function unseparated(read: SubtitleText, { style, keepsStyle }: BurnSpec, fonts: Fonts): Script {
  if (read.format === "ass" && keepsStyle) {
    const script = parseAss(read.text, { fontOf: familyIn(fonts), fallback: fonts.chosen.family });
    if (typeof script === "string") throw new AppError("subtitle_failed", script);
    return { script, notes: read.notes };
  }
  const { text, notes } = cuesOf(read, keepsStyle);
  return { script: captionScript(text.cues, style, fonts.chosen, keepsStyle), notes };
}
