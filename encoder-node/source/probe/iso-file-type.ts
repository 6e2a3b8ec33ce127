// Reads the brand of an ISO base media file and the kinds of its encrypted tracks, which ffprobe does not report.
import type { FileHandle } from "node:fs/promises";
import { openSource } from "../../folders/open-source.ts";
import { bytesAt } from "../../mp4/box-file.ts";
import { type BoxHeader, boxHeader, MAX_HEADER_BYTES } from "../../mp4/boxes.ts";

export type IsoFileType = {
  /** Major brand (ISO/IEC 14496-12 §4.3), such as `isom` or `heic`; null for files of another kind. */
  readonly brand: string | null;
  /**
   * Kinds of tracks with an encrypted sample entry (`encv`, `enca`), which ffprobe shows under their own codec's name.
   */
  readonly encrypted: ReadonlySet<"video" | "audio">;
};

const ENTRIES: Readonly<Record<string, "video" | "audio">> = { encv: "video", enca: "audio" };
/** The path to the sample entries of all tracks. */
const ENTRY_PATH = ["moov", "trak", "mdia", "minf", "stbl", "stsd"];
/** Maximum number of boxes read per parent: fragmented files have thousands of fragments after their header. */
const MAX_BOXES = 500;
const MAX_BOXES_IN_ALL = 5000;
/** `stsd` starts with version, flags and the number of entries; the entries are boxes. */
const STSD_HEADER_BYTES = 8;

/** Reads the headers of a few boxes of a local file. Never throws for invalid content, which is ignored. */
export async function readIsoFileType(path: string): Promise<IsoFileType> {
  const file = await openSource(path);
  try {
    const { size } = await file.stat();
    const [first] = await boxesOf(file, 0, size, { boxes: 1 });
    if (first?.type !== "ftyp") return { brand: null, encrypted: new Set() };
    const brand = await bytesAt(file, first.bodyAt, Math.min(4, size - first.bodyAt));
    const entries = await entriesOf(file, { from: 0, to: size }, ENTRY_PATH, { boxes: MAX_BOXES_IN_ALL });
    return { brand: brand.toString("latin1"), encrypted: new Set(entries.flatMap((type) => ENTRIES[type] ?? [])) };
  } finally {
    await file.close();
  }
}

type PlacedBox = Pick<BoxHeader, "type"> & { readonly bodyAt: number; readonly endAt: number };

/** `left`: the number of boxes that may still be read. */
async function entriesOf(
  file: FileHandle,
  { from, to }: { readonly from: number; readonly to: number },
  [next, ...path]: readonly string[],
  left: { boxes: number },
): Promise<string[]> {
  const boxes = await boxesOf(file, from, to, left);
  if (next === undefined) return boxes.map(({ type }) => type);
  const types: string[] = [];
  for (const { type, bodyAt, endAt } of boxes) {
    const skipped = type === "stsd" ? STSD_HEADER_BYTES : 0;
    if (type === next) types.push(...(await entriesOf(file, { from: bodyAt + skipped, to: endAt }, path, left)));
  }
  return types;
}

/** The boxes in a range of the file, up to the first invalid box. */
async function boxesOf(file: FileHandle, from: number, to: number, left: { boxes: number }): Promise<PlacedBox[]> {
  const boxes: PlacedBox[] = [];
  for (let at = from; at < to && boxes.length < MAX_BOXES && left.boxes > 0; left.boxes--) {
    const header = headerIn(await bytesAt(file, at, Math.min(MAX_HEADER_BYTES, to - at)));
    if (!header) break;
    boxes.push({ type: header.type, bodyAt: at + header.headerBytes, endAt: Math.min(to, at + header.sizeBytes) });
    at += header.sizeBytes;
  }
  return boxes;
}

function headerIn(bytes: Buffer): BoxHeader | null {
  try {
    return boxHeader(bytes);
  } catch {
    return null;
  }
}
