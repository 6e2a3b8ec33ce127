/// <reference lib="dom" />
// Reads the time code that is drawn into a frame on the screen.
import { BLOCKS, ROW, secondsOf } from "../time-code.ts";

/** Pixels per block, and the height of the row, on the canvas. */
const CELL = 5;

const canvas = document.createElement("canvas");
canvas.width = BLOCKS * CELL;
canvas.height = CELL;
const drawing = canvas.getContext("2d", { willReadFrequently: true });

/** The time code in a frame, in seconds; null if it is not readable. */
export function readTimeCode(frame: VideoFrame): number | null {
  if (!drawing) return null;
  const { displayWidth, displayHeight } = frame;
  drawing.drawImage(frame, 0, 0, displayWidth, displayHeight * ROW, 0, 0, canvas.width, canvas.height);
  const { data } = drawing.getImageData(0, CELL >> 1, canvas.width, 1);
  const green = (block: number): number => data[(block * CELL + (CELL >> 1)) * 4 + 1] ?? 0;
  return secondsOf(Array.from({ length: BLOCKS }, (_, block) => green(block)));
}
