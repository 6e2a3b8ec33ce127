// The layout of frames on sprite sheets, row by row.
import type { Failure } from "../../errors.ts";
import type { ImageContainer } from "../../format/containers.ts";
import type { ImageOutput } from "../../job/output-spec.ts";
import type { Size } from "../source/frame-size.ts";

/** All sheets of an output have the same size. Unused cells of the last sheet are black. */
export type SpriteSheetLayout = {
  readonly cell: Size;
  readonly columns: number;
  readonly rows: number;
  /** Frames on every sheet except the last, which may have fewer. */
  readonly framesPerSheet: number;
  readonly sheets: number;
};

/** Width of a cell if no size is requested: usual for the previews of a seek bar. */
export const DEFAULT_CELL_WIDTH = 160;

/**
 * Limits of the formats: 16 bits for JPEG (ITU-T T.81 B.2.2), 14 for WebP (RFC 9649 §3). Other limits are our decision.
 */
const MAX_SIDE: Readonly<Partial<Record<ImageContainer, number>>> = { jpg: 65_535, webp: 16_383 };
const MAX_SIDE_OTHERS = 16_383;
/** A node must hold several sheets in memory. */
const MAX_PIXELS = 36_000_000;

/** Lays out this many frames in cells of this size. */
export function layOutSheets(
  { limit, columns: requested }: NonNullable<ImageOutput["sprite"]>,
  frames: number,
  cell: Size,
): SpriteSheetLayout {
  const framesPerSheet = Math.min(limit ?? frames, frames);
  const columns = Math.min(requested, framesPerSheet);
  const rows = Math.ceil(framesPerSheet / columns);
  return { cell, columns, rows, framesPerSheet, sheets: Math.ceil(frames / framesPerSheet) };
}

/** The filter that puts frames on sheets. The last sheet is complete when the frames end. */
export const tileFilter = ({ columns, rows, framesPerSheet }: SpriteSheetLayout): string =>
  `tile=${columns}x${rows}:nb_frames=${framesPerSheet}:color=black`;

/** The place of frame number `at` (from 0): its sheet (from 0), and its corner in pixels. */
export function cellOf(layout: SpriteSheetLayout, at: number): { sheet: number; x: number; y: number } {
  const { cell, columns, framesPerSheet } = layout;
  const place = at % framesPerSheet;
  return {
    sheet: Math.floor(at / framesPerSheet),
    x: (place % columns) * cell.width,
    y: Math.floor(place / columns) * cell.height,
  };
}

/** Returns the reason why the container cannot hold such a sheet; null if it can. */
export function sheetFailure(container: ImageContainer, { cell, columns, rows }: SpriteSheetLayout): Failure | null {
  const [width, height] = [columns * cell.width, rows * cell.height];
  const side = MAX_SIDE[container] ?? MAX_SIDE_OTHERS;
  if (Math.max(width, height) <= side && width * height <= MAX_PIXELS) return null;
  const message =
    `A sprite sheet of ${columns} × ${rows} images would have ${width}x${height} pixels; at most ${side} on a side and ` +
    `${MAX_PIXELS / 1e6} million in all are possible. Use a smaller size or \`sprite.limit\`.`;
  return { code: "output_size_not_possible", message };
}
