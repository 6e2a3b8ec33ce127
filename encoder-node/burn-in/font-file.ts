// Reads the header, names and metrics of TrueType and OpenType files. Everything else is read by libass, in a sandbox.
import { FONT_NAME } from "#shared/job/burn.ts";

export type Font = {
  /** The name by which ASS scripts choose the font. */
  readonly family: string;
  /** Height of a line, which libass takes as the size of the font, in ems. */
  readonly lineHeight: number;
};

const VERSIONS: ReadonlySet<number> = new Set([0x00010000, 0x4f54544f, 0x74727565]);
const MAX_TABLES = 200;
const REQUIRED = ["cmap", "head", "hhea", "hmtx", "maxp", "name"];
const OUTLINES = ["glyf", "CFF ", "CFF2"];
const HEAD_MAGIC = 0x5f0f3cf5;

/** Null if the file is no single font, if it is not complete, or if its name is not usable in a script. */
export function readFont(bytes: Uint8Array): Font | null {
  try {
    return fontIn(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch (error) {
    // An offset in the file is beyond its end.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function fontIn(view: DataView): Font | null {
  const tables = tablesOf(view);
  if (!tables || REQUIRED.some((tag) => !tables.has(tag)) || !OUTLINES.some((tag) => tables.has(tag))) return null;
  const [head, name, hhea, os2] = ["head", "name", "hhea", "OS/2"].map((tag) => tables.get(tag));
  if (!head || !name || !hhea || head.getUint32(12) !== HEAD_MAGIC) return null;
  const unitsPerEm = head.getUint16(18);
  const family = familyOf(name);
  if (unitsPerEm < 16 || unitsPerEm > 16_384 || family === null) return null;
  const windows = os2 && os2.byteLength >= 78 ? os2.getUint16(74) + os2.getUint16(76) : 0;
  const height = windows > 0 ? windows : hhea.getInt16(4) - hhea.getInt16(6);
  return { family, lineHeight: Math.min(4, Math.max(0.5, height / unitsPerEm)) };
}

/** The tables by their tags; null if the header is not that of a font, or if a table is not in the file. */
function tablesOf(view: DataView): Map<string, DataView> | null {
  const count = view.getUint16(4);
  if (!VERSIONS.has(view.getUint32(0)) || count === 0 || count > MAX_TABLES) return null;
  const tables = new Map<string, DataView>();
  for (let at = 12; at < 12 + 16 * count; at += 16) {
    const tag = String.fromCharCode(...[0, 1, 2, 3].map((byte) => view.getUint8(at + byte)));
    const [start, length] = [view.getUint32(at + 8), view.getUint32(at + 12)];
    if (start + length > view.byteLength) return null;
    tables.set(tag, new DataView(view.buffer, view.byteOffset + start, length));
  }
  return tables;
}

const FAMILY = 1;
const WINDOWS = 3;
const ENGLISH = 0x409;

/** The family in English, or in the first language. libass knows only the names for Windows. */
function familyOf(table: DataView): string | null {
  const count = table.getUint16(2);
  const strings = table.getUint16(4);
  let found: string | null = null;
  for (let at = 6; at < 6 + 12 * count; at += 12) {
    if (table.getUint16(at) !== WINDOWS || table.getUint16(at + 6) !== FAMILY) continue;
    const start = strings + table.getUint16(at + 10);
    const units = Array.from({ length: table.getUint16(at + 8) >> 1 }, (_, unit) => table.getUint16(start + 2 * unit));
    const name = String.fromCharCode(...units);
    if (found === null || table.getUint16(at + 4) === ENGLISH) found = name;
  }
  return found !== null && FONT_NAME.test(found) ? found : null;
}
