// Follows a fragmented MP4 file while it grows: its head, then its fragments, each as soon as its last byte is there.
import type { FileHandle } from "node:fs/promises";
import type { TrackKind } from "#shared/plan/command/output-plan.ts";
import type { Piece } from "../segment-boundaries.ts";
import { type BoxHeader, boxHeader, MAX_HEADER_BYTES } from "./boxes.ts";
import { readFragment } from "./fragments.ts";
import { type MovieHeader, readMovieHeader } from "./movie-header.ts";

/** A `moof` with its `mdat`, and where they lie in the file. */
export type FileFragment = Piece & { readonly offset: number };

export type FileHead = MovieHeader & {
  /** `ftyp` and `moov`: the initialization segment. */
  readonly initBytes: number;
};

export interface FragmentFile {
  /** Null until its last byte is there, or `readOn` has not been called since. */
  head(): FileHead | null;
  /** The fragments that became complete since the last call. Throws when the file is no such file. */
  readOn(): Promise<FileFragment[]>;
  /** Whether the file ended with a complete box when it was last read. */
  isWhole(): boolean;
}

/** Boxes that are read as a whole have some kilobytes; this is far more than any. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Reads headers and tables only, never the samples. */
export function followFragments(file: FileHandle, kind: TrackKind): FragmentFile {
  let offset = 0;
  let sizeBytes = 0;
  let head: FileHead | null = null;
  let open: Omit<FileFragment, "sizeBytes"> | null = null;

  const bodyOf = ({ type, headerBytes, sizeBytes }: BoxHeader): Promise<Buffer> => {
    if (sizeBytes > MAX_BODY_BYTES) throw new Error(`A box ${JSON.stringify(type)} of ${sizeBytes} bytes`);
    return readFully(file, offset + headerBytes, sizeBytes - headerBytes);
  };

  /** Answers the fragment that a complete box ends. */
  const takeBox = async (box: BoxHeader): Promise<FileFragment | null> => {
    if (box.type === "mdat" && open) {
      const fragment = { ...open, sizeBytes: offset + box.sizeBytes - open.offset };
      open = null;
      return fragment;
    }
    if (box.type === "moof" && head && !open) {
      open = { ...readFragment(await bodyOf(box), head.defaults, kind), offset };
      return null;
    }
    if (box.type === "moov" && !head) {
      const movie = readMovieHeader(await bodyOf(box));
      if ((movie.track.picture ? "video" : "audio") !== kind) throw new Error(`A track that is no ${kind}`);
      head = { ...movie, initBytes: offset + box.sizeBytes };
      return null;
    }
    // The index at the very end is no part of any segment.
    if (!open && (box.type === "mfra" || (box.type === "ftyp" && offset === 0))) return null;
    throw new Error(`A box ${JSON.stringify(box.type)} where none belongs, at ${offset}`);
  };

  return {
    head: () => head,
    async readOn() {
      const fragments: FileFragment[] = [];
      sizeBytes = (await file.stat()).size;
      for (;;) {
        const box = boxHeader(await readFully(file, offset, Math.min(MAX_HEADER_BYTES, sizeBytes - offset)));
        if (!box || offset + box.sizeBytes > sizeBytes) return fragments;
        const fragment = await takeBox(box);
        if (fragment) fragments.push(fragment);
        offset += box.sizeBytes;
      }
    },
    isWhole: () => offset === sizeBytes && open === null,
  };
}

async function readFully(file: FileHandle, from: number, sizeBytes: number): Promise<Buffer> {
  const bytes = Buffer.alloc(sizeBytes);
  for (let at = 0; at < sizeBytes; ) {
    const { bytesRead } = await file.read(bytes, at, sizeBytes - at, from + at);
    if (bytesRead === 0) throw new Error("A file that became shorter");
    at += bytesRead;
  }
  return bytes;
}
