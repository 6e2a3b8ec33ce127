// Reads a source in order, and fetches blocks ahead.
import type { ByteRange } from "#shared/network/http-headers.ts";

/** A seek in MPEG-TS reads at about 20 places, and each costs a block. */
export const BLOCK_BYTES = 1024 * 1024;
/**
 * Maximum number of blocks ahead, and the number of sequential blocks that must have been read for each. Blocks after
 * the end of a chunk or of the file's header are fetched in vain. Four blocks in flight are 4 MB per round trip, and
 * encoders need less in a second.
 */
const MAX_AHEAD = 3;
const SEQUENTIAL_PER_AHEAD = 2;

/** The source of a reader. */
type BlockSource = {
  readonly blockBytes: number;
  /** Null while the size is unknown. */
  sizeBytes(): number | null;
  /** Waits for the byte at `position` of `range`. Returns the next missing byte. */
  arrived(position: number, range: ByteRange): Promise<number>;
  fetchAhead(range: ByteRange): void;
  read(into: Buffer, position: number): Promise<number>;
};

/** A reader with a position. After some sequential reads it fetches blocks ahead. */
export class SourceReader {
  readonly #source: BlockSource;
  #block = -1;
  #sequential = 0;

  constructor(source: BlockSource) {
    this.#source = source;
  }

  /**
   * Fills `into` from `position`, at most to the end of a block, with bytes that have arrived. Waits for the first byte.
   * Returns the number of bytes; 0 at the end. Throws AppError as `SourceFile.whole` does.
   */
  async read(into: Buffer, position: number): Promise<number> {
    const { blockBytes } = this.#source;
    const sizeBytes = this.#source.sizeBytes();
    if (sizeBytes !== null && position >= sizeBytes) return 0;
    const block = Math.floor(position / blockBytes);
    if (block !== this.#block)
      this.#sequential = block === this.#block + 1 && this.#block >= 0 ? this.#sequential + 1 : 0;
    this.#block = block;
    const range = this.#rangeOf(block);
    const arrival = this.#source.arrived(position, range);
    const ahead = Math.min(Math.floor(this.#sequential / SEQUENTIAL_PER_AHEAD), MAX_AHEAD);
    for (let next = 1; next <= ahead; next++) this.#source.fetchAhead(this.#rangeOf(block + next));
    const length = Math.min(await arrival, range.end + 1) - position;
    return this.#source.read(into.subarray(0, length), position);
  }

  #rangeOf(block: number): ByteRange {
    const { blockBytes } = this.#source;
    const start = block * blockBytes;
    return { start, end: Math.min(start + blockBytes, this.#source.sizeBytes() ?? Number.POSITIVE_INFINITY) - 1 };
  }
}
