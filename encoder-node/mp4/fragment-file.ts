// Follows a growing fragmented MP4 file. Returns its head and each fragment as soon as they are complete.

import type { FileHandle } from "node:fs/promises";
import type { TrackKind } from "#shared/plan/source/source-tracks.ts";
import type { Piece } from "../codecs/segment.ts";
import { boxAt, bytesAt } from "./box-file.ts";
import type { BoxHeader } from "./boxes.ts";
import { readFragment } from "./fragments.ts";
import { type MovieHeader, readMovieHeader } from "./movie-header.ts";

/** A `moof` with its `mdat`, and their position in the file. */
export type FileFragment = Piece & { readonly offset: number };

export type FileHead = MovieHeader & {
  /** `ftyp` and `moov`: the initialization segment. */
  readonly initBytes: number;
};

export interface FragmentFile {
  /** Null until a call of `readOn` finds the complete head. */
  head(): FileHead | null;
  /** Returns fragments that became complete since the last call. Throws when the file is not a fragmented MP4 track. */
  readOn(): Promise<FileFragment[]>;
  /** True if the file ended with a complete box when it was last read. */
  isWhole(): boolean;
}

/** Boxes that are read completely have a few kilobytes. This limit is far above that size. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Reads only headers and tables, never the samples. */
export function followFragments(file: FileHandle, kind: TrackKind): FragmentFile {
  let offset = 0;
  let sizeBytes = 0;
  let head: FileHead | null = null;
  let open: Omit<FileFragment, "sizeBytes"> | null = null;

  const bodyOf = ({ type, headerBytes, sizeBytes }: BoxHeader): Promise<Buffer> => {
    if (sizeBytes > MAX_BODY_BYTES) throw new Error(`MP4 box ${JSON.stringify(type)} is too large: ${sizeBytes} bytes`);
    return bytesAt(file, offset + headerBytes, sizeBytes - headerBytes);
  };

  /** Returns the fragment that ends with this complete box, or null. */
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
      if ((movie.track.video ? "video" : "audio") !== kind) throw new Error(`MP4 track is not ${kind}`);
      head = { ...movie, initBytes: offset + box.sizeBytes };
      return null;
    }
    // The index at the end of the file is not part of any segment.
    if (!open && (box.type === "mfra" || (box.type === "ftyp" && offset === 0))) return null;
    throw new Error(`Unexpected MP4 box ${JSON.stringify(box.type)} at byte ${offset}`);
  };

  return {
    head: () => head,
    async readOn() {
      const fragments: FileFragment[] = [];
      sizeBytes = (await file.stat()).size;
      for (;;) {
        const box = await boxAt(file, offset, sizeBytes);
        if (!box) return fragments;
        const fragment = await takeBox(box);
        if (fragment) fragments.push(fragment);
        offset += box.sizeBytes;
      }
    },
    isWhole: () => offset === sizeBytes && open === null,
  };
}
