// The files with the texts of overlays, which the node writes, and the places of overlays.
import type { Anchor, TextOverlay } from "../../../job/overlays.ts";
import { BURN_TRANSFERS, type BurnTransfer } from "../burn-in.ts";
import type { ShownTimes } from "./overlay-times.ts";

/** Share of the free space that is before an overlay. */
export const acrossOf = (anchor: Anchor): number => (anchor.endsWith("left") ? 0 : anchor.endsWith("right") ? 1 : 0.5);
export const downOf = (anchor: Anchor): number =>
  anchor.startsWith("top") ? 0 : anchor.startsWith("bottom") ? 1 : 0.5;

export const pixelsOf = (percent: number, side: number): number => Math.round((percent / 100) * side);

/** Later than any frame. */
const NEVER_MS = 9_999_999_990;

/** Scripts count hundredths of a second: the last one before the first frame that has the text. */
const hundredth = (ms: number): number => Math.max(0, 10 * Math.floor((ms + 0.001) / 10));

/** The name of the file of a text, with its times, such as `text-0-2-1000-5000-pq.ass`. */
export function textFile(key: string, { fromMs, toMs, slackMs }: ShownTimes, transfer: BurnTransfer): string {
  const from = fromMs === null ? 0 : hundredth(fromMs + slackMs);
  const to = toMs === null ? NEVER_MS : hundredth(toMs + slackMs);
  return `${["text", key, from, to, ...(transfer === "sdr" ? [] : [transfer])].join("-")}.ass`;
}

const TEXT_FILES = /\btext-(\d{1,5}-\d)-(\d{1,10})-(\d{1,10})(?:-(pq|hlg))?\.ass\b/g;

/** The files of texts that these arguments name. `key`: the output, and the position among its overlays. */
export const textFilesIn = (argv: readonly string[]) =>
  [...argv.join("\n").matchAll(TEXT_FILES)].map(([name, key = "", startMs, endMs, transfer]) => ({
    name,
    key,
    startMs: Number(startMs),
    endMs: Number(endMs),
    transfer: BURN_TRANSFERS.find((candidate) => candidate === transfer) ?? "sdr",
  }));

/** Placement of a text in a script, whose lengths are thousandths of the frame's sides. `inset`: space around the text. */
export function textPlace({ anchor, x, y }: TextOverlay, inset: number) {
  const [across, down] = [acrossOf(anchor), downOf(anchor)];
  const placed = (share: number, percent: number): number =>
    1000 * share + (share === 1 ? -1 : 1) * 10 * percent + (share === 0 ? inset : share === 1 ? -inset : 0);
  return { alignment: (down === 0 ? 7 : down === 1 ? 1 : 4) + 2 * across, x: placed(across, x), y: placed(down, y) };
}
