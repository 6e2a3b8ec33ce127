// The stored files that a source consists of. Pure.
import type { ByteRange } from "#shared/network/http-headers.ts";
import type { SecretHeaders } from "../fetch/source-request.ts";

/** A stored file. A source is a single file, or several files that follow each other. */
export type SourcePiece = {
  readonly url: string;
  readonly secretHeaders?: SecretHeaders | undefined;
  readonly sizeBytes: number;
  /** Strong ETag or date of the version to read. Null or missing: the version of the first response. */
  readonly validator?: string | null;
};

type PieceRange = ByteRange & {
  readonly piece: number;
  /** Position of the first byte in the whole source. */
  readonly position: number;
};

/** Converts a range of the source to ranges of its pieces. */
export function rangesByPiece(
  pieces: readonly Pick<SourcePiece, "sizeBytes">[],
  { start, end }: ByteRange,
): PieceRange[] {
  let before = 0;
  return pieces.flatMap(({ sizeBytes }, piece) => {
    const from = before;
    before += sizeBytes;
    const first = Math.max(start, from);
    const last = Math.min(end, from + sizeBytes - 1);
    return first > last ? [] : [{ piece, start: first - from, end: last - from, position: first }];
  });
}
