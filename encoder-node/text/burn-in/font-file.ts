// Reads the header, names and metrics of TrueType and OpenType files. Everything else is read by libass, in a sandbox.
import { firstIndex } from "#shared/first-index.ts";
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
export const readFont = (bytes: Uint8Array): Font | null => readable(() => fontIn(viewOf(bytes)), null);

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/** Returns `otherwise` when an offset in the file is beyond its end. */
function readable<Value>(read: () => Value, otherwise: Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return otherwise;
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

/**
 * Returns a test of characters (OpenType, "cmap"). It is true if the font has a glyph for the code point, or if that is
 * not known: only the formats 4 and 12 are read, which nearly all fonts have.
 */
export function glyphsIn(bytes: Uint8Array): (codePoint: number) => boolean {
  const maps = readable(() => {
    const cmap = tablesOf(viewOf(bytes))?.get("cmap");
    return cmap ? characterMaps(cmap) : [];
  }, []);
  return (codePoint) => maps.length === 0 || readable(() => maps.some((map) => glyphOf(map, codePoint) !== 0), true);
}

const SEGMENTS = 4;
const GROUPS = 12;

/** The first map of Unicode characters in each of the formats 4 and 12. */
function characterMaps(cmap: DataView): DataView[] {
  const maps = new Map<number, DataView>();
  for (let at = 4; at < 4 + 8 * cmap.getUint16(2); at += 8) {
    const [platform, encoding] = [cmap.getUint16(at), cmap.getUint16(at + 2)];
    const map = new DataView(cmap.buffer, cmap.byteOffset + cmap.getUint32(at + 4));
    const isUnicode = platform === 0 || (platform === WINDOWS && (encoding === 1 || encoding === 10));
    const format = isUnicode ? map.getUint16(0) : 0;
    if ([SEGMENTS, GROUPS].includes(format) && !maps.has(format)) maps.set(format, map);
  }
  return [...maps.values()];
}

/** 0: the font lacks the character. */
function glyphOf(map: DataView, codePoint: number): number {
  if (map.getUint16(0) === GROUPS) {
    const at = 16 + 12 * firstIndex(map.getUint32(12), (group) => map.getUint32(20 + 12 * group) >= codePoint);
    if (at === 16 + 12 * map.getUint32(12) || map.getUint32(at) > codePoint) return 0;
    return map.getUint32(at + 8) + codePoint - map.getUint32(at);
  }
  const length = map.getUint16(6);
  const at = 14 + 2 * firstIndex(length >> 1, (segment) => map.getUint16(14 + 2 * segment) >= codePoint);
  const first = at + length + 2;
  if (at >= 14 + length || map.getUint16(first) > codePoint) return 0;
  const [delta, offset] = [map.getUint16(first + length), map.getUint16(first + 2 * length)];
  if (offset === 0) return (codePoint + delta) & 0xffff;
  return map.getUint16(first + 2 * length + offset + 2 * (codePoint - map.getUint16(first)));
}

/** The tables by their tags; null if the file has no header of a font, or lacks a table. */
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

/** Longer names are not usable. Records may overlap, so that a small file can have thousands of long names. */
const MAX_NAME_BYTES = 160;

/** The family in English, or in the first language. libass knows only the names for Windows. */
function familyOf(table: DataView): string | null {
  const count = table.getUint16(2);
  const strings = table.getUint16(4);
  let family: string | null = null;
  for (let at = 6; at < 6 + 12 * count; at += 12) {
    if (table.getUint16(at) !== WINDOWS || table.getUint16(at + 6) !== FAMILY) continue;
    const isEnglish = table.getUint16(at + 4) === ENGLISH;
    const bytes = table.getUint16(at + 8);
    if (bytes > MAX_NAME_BYTES || (family !== null && !isEnglish)) continue;
    const start = strings + table.getUint16(at + 10);
    const units = Array.from({ length: bytes >> 1 }, (_, unit) => table.getUint16(start + 2 * unit));
    family = String.fromCharCode(...units);
    if (isEnglish) break;
  }
  return family !== null && FONT_NAME.test(family) ? family : null;
}
