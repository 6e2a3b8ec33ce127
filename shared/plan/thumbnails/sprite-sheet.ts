// Pictures laid out on sheets, row by row.
import type { Failure } from "../../errors.ts";
import type { ImageContainer } from "../../format/containers.ts";
import type { ImageOutput } from "../../job/output-spec.ts";
import type { Size } from "../filters/fit-frame.ts";

/** All sheets are of one size; what the last one does not need is black. */
export type SpriteSheetLayout = {
  readonly cell: Size;
  readonly columns: number;
  readonly rows: number;
  /** Pictures on every sheet but the last, which may have fewer. */
  readonly framesPerSheet: number;
  readonly sheets: number;
};

/** Width of a cell when no size is asked for: usual for the previews of a seek bar. */
export const DEFAULT_CELL_WIDTH = 160;

/** What a file can hold on a side: 16 bits in JPEG (ITU-T T.81 B.2.2), 14 in WebP (RFC 9649 §3); the others are ours. */
const MAX_SIDE: Readonly<Partial<Record<ImageContainer, number>>> = { jpg: 65_535, webp: 16_383 };
const MAX_SIDE_OTHERS = 16_383;
/** What a node can hold in memory several times over. */
const MAX_PIXELS = 36_000_000;

/** Lays out so many pictures of this size. */
export function layOutSheets(
  { limit, columns: asked }: NonNullable<ImageOutput["sprite"]>,
  pictures: number,
  cell: Size,
): SpriteSheetLayout {
  const perSheet = Math.min(limit ?? pictures, pictures);
  const columns = Math.min(asked, perSheet);
  return {
    cell,
    columns,
    rows: Math.ceil(perSheet / columns),
    framesPerSheet: perSheet,
    sheets: Math.ceil(pictures / perSheet),
  };
}

/** The filter that puts pictures onto sheets; the last sheet comes when the pictures end. */
export const tileFilter = ({ columns, rows, framesPerSheet: perSheet }: SpriteSheetLayout): string =>
  `tile=${columns}x${rows}:nb_frames=${perSheet}:color=black`;

/** Where picture number `at` (from 0) lies: the sheet (from 0), and its corner in pixels. */
export function cellOf(
  { cell, columns, framesPerSheet: perSheet }: SpriteSheetLayout,
  at: number,
): { sheet: number; x: number; y: number } {
  const place = at % perSheet;
  return {
    sheet: Math.floor(at / perSheet),
    x: (place % columns) * cell.width,
    y: Math.floor(place / columns) * cell.height,
  };
}

/** Why no file can hold such a sheet; null when one can. */
export function sheetFailure(container: ImageContainer, { cell, columns, rows }: SpriteSheetLayout): Failure | null {
  const [width, height] = [columns * cell.width, rows * cell.height];
  const side = MAX_SIDE[container] ?? MAX_SIDE_OTHERS;
  if (Math.max(width, height) <= side && width * height <= MAX_PIXELS) return null;
  const message =
    `The sheet of ${columns} × ${rows} pictures would be ${width}x${height} pixels; at most ${side} on a side and ` +
    `${MAX_PIXELS / 1e6} million in all are possible. A smaller size or \`sprite.limit\` helps.`;
  return { code: "output_size_not_possible", message };
}
