// The files with the texts of overlays, which the node writes, and the places of overlays.
import type { Anchor, TextOverlay } from "../../../job/overlays.ts";
import { BURN_TRANSFERS, type BurnTransfer } from "../burn-in.ts";
import type { ShownTimes } from "./overlay-times.ts";

/** Share of the free space that is before an overlay. */
export const acrossOf = (anchor: Anchor): number => (anchor.endsWith("left") ? 0 : anchor.endsWith("right") ? 1 : 0.5);
export const downOf = (anchor: Anchor): number =>
  anchor.startsWith("top") ? 0 : anchor.startsWith("bottom") ? 1 : 0.5;

/** A file with the text of an overlay, shown at these times of the frames. */
export type TextFile = {
  readonly name: string;
  readonly output: number;
  readonly at: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly transfer: BurnTransfer;
};

/** Later than any frame. */
const NEVER_MS = 9_999_999_990;

/** Scripts count hundredths of a second: the last one before the first frame that has the text. */
const hundredth = (ms: number): number => Math.max(0, 10 * Math.floor((ms + 0.001) / 10));

type Shown = { readonly output: number; readonly at: number; readonly times: ShownTimes };

export function textFile({ output, at, times }: Shown, transfer: BurnTransfer): string {
  const { fromMs, toMs, slackMs } = times;
  const [from, to] = [hundredth((fromMs ?? 0) + slackMs), toMs === null ? NEVER_MS : hundredth(toMs + slackMs)];
  return `${["text", output, at, fromMs === null ? 0 : from, to, ...(transfer === "sdr" ? [] : [transfer])].join("-")}.ass`;
}

const TEXT_FILES = /\btext-(\d{1,5})-(\d)-(\d{1,10})-(\d{1,10})(?:-(pq|hlg))?\.ass\b/g;

/** The files of texts that these arguments name, each once. */
export function textFilesIn(argv: readonly string[]): TextFile[] {
  const names = argv.flatMap((argument) => [...argument.matchAll(TEXT_FILES)]);
  const files = names.map(([name, output, at, startMs, endMs, transfer]): TextFile => {
    const known = BURN_TRANSFERS.find((candidate) => candidate === transfer) ?? "sdr";
    const [whose, position, from, to] = [output, at, startMs, endMs].map(Number);
    return { name, output: whose ?? 0, at: position ?? 0, startMs: from ?? 0, endMs: to ?? 0, transfer: known };
  });
  return [...new Map(files.map((file) => [file.name, file])).values()];
}

/** Placement of a text in a script, whose lengths are thousandths of the frame's sides. */
/** `inset`: pixels of a frame of 1000×1000 that are kept free around the text. */
export function textPlace({ anchor, x, y }: TextOverlay, inset: number) {
  const [across, down] = [acrossOf(anchor), downOf(anchor)];
  const placed = (share: number, percent: number): number =>
    1000 * share + (share === 1 ? -1 : 1) * 10 * percent + (share === 0 ? inset : share === 1 ? -inset : 0);
  return { alignment: (down === 0 ? 7 : down === 1 ? 1 : 4) + 2 * across, x: placed(across, x), y: placed(down, y) };
}
