// Reads the brand of an ISO base media file and the kinds of its encrypted tracks, which ffprobe does not report.
import { openSource } from "../../folders/open-source.ts";
import { boxesFrom, type ReadAt, readerOf } from "../../mp4/boxes.ts";
import { STSD_HEADER_BYTES } from "../../mp4/movie.ts";

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

/** Reads the headers of a few boxes of a local file. Never throws for invalid content, which is ignored. */
export async function readIsoFileType(path: string): Promise<IsoFileType> {
  const file = await openSource(path);
  const encrypted = new Set<"video" | "audio">();
  let brand: string | null = null;
  try {
    const read = readerOf(file);
    const { size } = await file.stat();
    for await (const { type, offset, headerBytes } of boxesFrom(read, 0, size, "truncated")) {
      if (type === "ftyp") brand = (await read(offset + headerBytes, 4)).toString("latin1");
      break;
    }
    const entries = entriesOf(read, { from: 0, to: size }, ENTRY_PATH, { boxes: MAX_BOXES_IN_ALL });
    for await (const type of brand === null ? [] : entries) {
      const kind = ENTRIES[type];
      if (kind) encrypted.add(kind);
    }
  } catch {
    // The probe reports an invalid file.
  } finally {
    await file.close();
  }
  return { brand, encrypted };
}

/** `left`: the number of boxes that may still be read. */
async function* entriesOf(
  read: ReadAt,
  { from, to }: { readonly from: number; readonly to: number },
  [next, ...path]: readonly string[],
  left: { boxes: number },
): AsyncGenerator<string> {
  let count = 0;
  for await (const { type, offset, headerBytes, sizeBytes } of boxesFrom(read, from, to, "truncated")) {
    if (count++ === MAX_BOXES || left.boxes-- <= 0) return;
    const bodyAt = offset + headerBytes + (type === "stsd" ? STSD_HEADER_BYTES : 0);
    if (next === undefined) yield type;
    else if (type === next) yield* entriesOf(read, { from: bodyAt, to: Math.min(to, offset + sizeBytes) }, path, left);
  }
}
