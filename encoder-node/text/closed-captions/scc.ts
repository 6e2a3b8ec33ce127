// Reads SCC files: CEA-608 as text, with timecodes at 30000/1001 frames per second.
import { AppError } from "#shared/errors.ts";
import type { WebVtt } from "../subtitle-cues.ts";
import type { CaptionPair } from "./caption-pairs.ts";
import { decodePairs } from "./decode-pairs.ts";

const SIGNATURE = /^Scenarist_SCC V1\.0[ \t]*(?:\n|$)/;
/** Timecodes have a semicolon, or in some files a point or comma, before the frame if they drop numbers. */
const TIMECODE = /^[ \t]*(\d\d):([0-5]\d):([0-5]\d)([:;.,])([0-2]\d)[ \t]/;
const PAIR = /\b[0-9a-f]{4}\b/gi;
const FPS = 30;
const FRAME_MS = 1001 / 30;
/** A decoder erases captions after this time without data (CTA-608-E). */
const ERASE_MS = 16_000;

export const isScc = (text: string): boolean => SIGNATURE.test(text);

/** The cues of the first channel that has captions. Throws AppError `subtitle_failed` for a file without data. */
export function parseScc(text: string): WebVtt {
  const pairs = pairsOf(text);
  const end = pairs.at(-1);
  if (!end) throw new AppError("subtitle_failed", "it is not SCC with timecodes and data");
  const channels = decodePairs(pairs, end.ms + ERASE_MS);
  return { definitions: [], cues: [...channels.values()].find((cues) => cues.length > 0) ?? [] };
}

/** Each frame has one pair. A line whose data is too long delays the next line. */
function pairsOf(text: string): CaptionPair[] {
  const lines = text.split("\n").flatMap((line) => {
    const frame = frameOf(TIMECODE.exec(line));
    return frame === null ? [] : [{ frame, line }];
  });
  const pairs: CaptionPair[] = [];
  let free = 0;
  for (const { frame, line } of lines.toSorted((a, b) => a.frame - b.frame)) {
    free = Math.max(free, frame);
    for (const [hex] of line.matchAll(PAIR)) {
      const code = Number.parseInt(hex, 16);
      pairs.push({ ms: free * FRAME_MS, field: 1, first: code >> 8, second: code & 255 });
      free += 1;
    }
  }
  return pairs;
}

/** Number of frames before a timecode. Drop-frame timecode skips two numbers in each minute but every tenth. */
function frameOf(timecode: RegExpExecArray | null): number | null {
  if (!timecode) return null;
  const [hours = 0, minutes = 0, seconds = 0, , frames = 0] = timecode.slice(1).map(Number);
  const allMinutes = hours * 60 + minutes;
  const skipped = timecode[4] === ":" ? 0 : 2 * (allMinutes - Math.floor(allMinutes / 10));
  return (allMinutes * 60 + seconds) * FPS + frames - skipped;
}
