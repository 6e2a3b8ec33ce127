// What an ISO base media file says of itself that ffprobe does not: its brand, and which of its tracks are encrypted.
import { type FileHandle, open } from "node:fs/promises";
import { type BoxHeader, boxHeader, MAX_HEADER_BYTES } from "../../package/mp4/boxes.ts";

export type IsoSigns = {
  /** Major brand (ISO/IEC 14496-12 §4.3), such as `isom` or `heic`; null for files of another kind. */
  readonly brand: string | null;
  /** Kinds of tracks with an encrypted sample entry (`encv`, `enca`), which ffprobe shows under their own codec's name. */
  readonly encrypted: ReadonlySet<"video" | "audio">;
};

const ENTRIES: Readonly<Record<string, "video" | "audio">> = { encv: "video", enca: "audio" };
/** Way to the sample entries of all tracks. */
const WAY = ["moov", "trak", "mdia", "minf", "stbl", "stsd"];
/** Boxes of one level that are looked at: fragmented files have thousands of fragments behind their header. */
const MAX_BOXES = 500;
/** `stsd` begins with a version, flags and the count of entries, which are boxes. */
const STSD_HEADER_BYTES = 8;

/** Reads the headers of a few boxes of a local file. Never throws for what the file holds: what cannot be read says nothing. */
export async function isoSigns(path: string): Promise<IsoSigns> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const [first] = await boxesOf(file, 0, size, 1);
    if (first?.type !== "ftyp") return { brand: null, encrypted: new Set() };
    const brand = await bytesAt(file, first.bodyAt, 4);
    const entries = await entriesOf(file, 0, size, WAY);
    return { brand: brand.toString("latin1"), encrypted: new Set(entries.flatMap((type) => ENTRIES[type] ?? [])) };
  } finally {
    await file.close();
  }
}

type PlacedBox = Pick<BoxHeader, "type"> & { readonly bodyAt: number; readonly endAt: number };

async function entriesOf(
  file: FileHandle,
  from: number,
  to: number,
  [next, ...way]: readonly string[],
): Promise<string[]> {
  const boxes = await boxesOf(file, from, to, MAX_BOXES);
  if (next === undefined) return boxes.map(({ type }) => type);
  const found: string[] = [];
  for (const { type, bodyAt, endAt } of boxes) {
    const skipped = type === "stsd" ? STSD_HEADER_BYTES : 0;
    if (type === next) found.push(...(await entriesOf(file, bodyAt + skipped, endAt, way)));
  }
  return found;
}

/** The boxes in a range of the file, up to the first that none can be like. */
async function boxesOf(file: FileHandle, from: number, to: number, most: number): Promise<PlacedBox[]> {
  const boxes: PlacedBox[] = [];
  for (let at = from; at < to && boxes.length < most; ) {
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

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
