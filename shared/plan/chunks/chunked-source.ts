// What is known of a film that may be cut into chunks: little enough to travel.
import {
  type FrameIndex,
  longestGopMs,
  type PossibleSplitPoint,
  possibleSplitPoints,
  ROUNDING_SECONDS,
  ticksToUs,
} from "../../media/frame-index.ts";
import type { MediaProbe } from "../../media/media-probe.ts";
import { ptsOriginUs } from "../source/pts-origin.ts";
import { isUnsure, slotOfFirst, slotRate, slotsOfAll } from "./frame-slots.ts";

export type ChunkableSource = {
  readonly frames: number;
  /** When the first frame is shown, and when the last one ends, in µs on the film's line: that of a run over picture and sound. */
  readonly startUs: number;
  readonly endUs: number;
  /** Coded size of all frames. */
  readonly bytes: number;
  readonly longestGopMs: number;
  /** At most one on each line of a grid of two seconds from the first frame on. */
  readonly splitPoints: readonly PossibleSplitPoint[];
};

/** All grids of keyframes have common lines on multiples of this. */
export const SPLIT_GRID_MS = 2000;

/** A frame so near to where a cell of the grid begins is on neither side of that. In seconds. */
const UNSURE_SECONDS = 0.00001;

/** How far behind the first frame the line of the grid lies that a cut stands for. */
export const gridLineMs = (
  { startUs }: Pick<ChunkableSource, "startUs">,
  { frameUs }: Pick<PossibleSplitPoint, "frameUs">,
): number => Math.floor((frameUs - startUs + ROUNDING_SECONDS * 1e6) / (SPLIT_GRID_MS * 1000)) * SPLIT_GRID_MS;

/**
 * The film with those cuts only behind which a run that begins there gives each frame the time that it has in a run over the
 * whole film, and a keyframe that the whole film has too.
 */
export function chunkableSource(ledger: FrameIndex, probe: MediaProbe): ChunkableSource {
  const lateUs = ptsOriginUs(probe);
  const seconds = Float64Array.from(ledger.ticks, (ticks) => (ticksToUs(ledger, ticks) - lateUs) / 1e6);
  const fps = slotRate(probe);
  const shown = fps === null ? seconds : shownTimes(seconds, fps);
  const cuts = shown === null ? [] : possibleSplitPoints(ledger, SPLIT_GRID_MS);
  const start = seconds[0] ?? 0;
  return {
    frames: ledger.ticks.length,
    startUs: Math.round(start * 1e6),
    endUs: Math.round(ticksToUs(ledger, ledger.endTicks) - lateUs),
    bytes: ledger.bytes.reduce((sum, size) => sum + size, 0),
    longestGopMs: longestGopMs(ledger),
    splitPoints: cuts
      .filter(
        ({ index }) =>
          shown !== null && isOnLine(shown, index) && (fps === null || beginsAnew(seconds, shown, index, fps)),
      )
      .map((cut) => ({ ...cut, splitUs: cut.splitUs - lateUs, frameUs: cut.frameUs - lateUs })),
  };
}

/** When the frames are shown that are laid on a constant rate; null when some are left out. */
function shownTimes(seconds: Float64Array, fps: number): Float64Array | null {
  const slots = slotsOfAll(seconds, fps);
  if (slots.includes(null) || isUnsure(seconds[0] ?? 0, fps)) return null;
  return Float64Array.from(slots, (slot) => (slot ?? 0) / fps);
}

const beginsAnew = (seconds: Float64Array, shown: Float64Array, index: number, fps: number): boolean => {
  const time = seconds[index] ?? 0;
  return !isUnsure(time, fps) && slotOfFirst(time, fps) === Math.round((shown[index] ?? 0) * fps);
};

/** Whether the frame is the first of a cell of the grid, and none that rounding could have moved there. */
function isOnLine(shown: Float64Array, index: number): boolean {
  const cell = (at: number, moved: number): number =>
    Math.floor(((shown[at] ?? 0) - (shown[0] ?? 0) + ROUNDING_SECONDS + moved) / (SPLIT_GRID_MS / 1000));
  const [here, before] = [cell(index, -UNSURE_SECONDS), cell(index - 1, UNSURE_SECONDS)];
  return here > before && here === cell(index, UNSURE_SECONDS);
}
