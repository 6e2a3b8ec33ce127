// Decodes CEA-608 into cues (ANSI/CTA-608-E).
import { Cta608Parser } from "@svta/cml-608";
import { CAPTION_CHANNELS, type CaptionChannel } from "#shared/job/subtitles.ts";
import type { Cue } from "../subtitle-cues.ts";
import type { CaptionPair } from "./caption-pairs.ts";
import { CueCollector } from "./collect-cues.ts";

/**
 * Cues of each channel, sorted. `endMs`: the time at which captions disappear that nothing erases. Throws AppError
 * `subtitle_failed` if there are too many cues.
 */
export function decodePairs(pairs: readonly CaptionPair[], endMs: number): ReadonlyMap<CaptionChannel, readonly Cue[]> {
  const collectors = CAPTION_CHANNELS.map((channel) => ({ channel, cues: new CueCollector() }));
  const [cc1, cc2, cc3, cc4] = collectors.map(({ cues }) => cues);
  const fields = { 1: new Field(new Cta608Parser(1, cc1, cc2)), 2: new Field(new Cta608Parser(3, cc3, cc4)) };
  for (const pair of pairs) fields[pair.field].add(pair);
  for (const field of Object.values(fields)) field.end(Math.max(endMs, pairs.at(-1)?.ms ?? 0));
  return new Map(collectors.map(({ channel, cues }) => [channel, cues.finish()]));
}

/** Feeds the decoder of a field, and makes up for its gaps. */
class Field {
  readonly #parser: Cta608Parser;
  /** The last code, which counts once if it comes twice in sequence; 0: none. */
  #lastCode = 0;
  /** The bit of codes by which the two channels of the field differ, of the last code. */
  #channel = 0;
  /** True inside of data about programs, which is not captions (CTA-608-E). */
  #inProgramData = false;

  constructor(parser: Cta608Parser) {
    this.#parser = parser;
  }

  add({ ms, field, first, second }: CaptionPair): void {
    const [a, b] = [first & 0x7f, second & 0x7f];
    if (a === 0 && b === 0) return;
    const isCode = a >= 0x10 && a < 0x20;
    if (isCode) this.#inProgramData = false;
    else if (a > 0 && a < 0x10) this.#inProgramData = field === 2 && a !== 0x0f;
    if ((a > 0 && a < 0x10) || this.#inProgramData) return;
    const code = isCode ? a * 256 + b : 0;
    // Commands and addresses of rows choose the channel. Other codes are for the chosen channel.
    if (isCode && (b >= 0x40 || (a & 7) >= 4)) this.#channel = a & 8;
    if (isStyle(code)) this.#addStyle(ms, a, b, code);
    else this.#feed(ms, a, b);
    this.#lastCode = code === this.#lastCode ? 0 : code;
  }

  /** A code for the style inside of a row takes a cell, which is displayed as a space (CTA-608-E). */
  #addStyle(ms: number, a: number, b: number, code: number): void {
    if (code === this.#lastCode || (a & 8) !== this.#channel) return;
    this.#feed(ms, 0x20, 0);
    this.#feed(ms, a, b);
  }

  #feed(ms: number, a: number, b: number): void {
    try {
      this.#parser.addData(ms, [a, b]);
    } catch (error) {
      // The decoder fails for styles after the last column. Such styles have no effect.
      if (!(error instanceof TypeError)) throw error;
    }
  }

  end(ms: number): void {
    this.#parser.cueSplitAtTime(ms);
  }
}

const isStyle = (code: number): boolean => (code & 0xf7f0) === 0x1120;
