// The packets of a track, in little memory: the video of two hours has about 400,000 packets.

/** Columns with a row per packet, in decoding order. Ticks are NaN when ffprobe does not know them. */
export type PacketColumns = {
  readonly pts: Float64Array;
  readonly dts: Float64Array;
  readonly duration: Float64Array;
  readonly bytes: Uint32Array;
  readonly flags: Uint8Array;
};

/** Bits of `flags`. `DISCARD`: decoded for other frames, but not shown (edit lists). */
export const KEYFRAME = 1;
export const DISCARD = 2;
export const CORRUPT = 4;

/** Twelve hours at 120 frames per second; about 170 MB in memory. */
const MAX_PACKETS = 5_200_000;
const FIRST_CAPACITY = 1 << 15;

const PACKET =
  /^packet\|stream_index=(\d{1,4})\|pts=(-?\d+|N\/A)\|dts=(-?\d+|N\/A)\|duration=(-?\d+|N\/A)\|size=(\d+)\|flags=(\S*)/;

/** In a transport stream, tracks are listed within their programs. */
const TRACK = /(?:^|\|)stream\|index=(\d{1,4})\|time_base=(\d+)\/(\d+)/;

/** The value of `-show_entries`, with `-of compact`. */
export const PACKET_ENTRIES = "packet=stream_index,pts,dts,duration,size,flags:stream=index,time_base";

/** The `longest` step between consecutive decoding timestamps, and the longest step `back`, in ticks. */
type Steps = { readonly longest: number; readonly back: number };

/** The packets of a track, and only the timestamp steps of all other tracks. */
export class PacketList {
  readonly #streamIndex: number;
  readonly #steps = new Map<number, Steps>();
  readonly #tickSeconds = new Map<number, number>();
  /** By track: the last decoding timestamp. */
  readonly #lastDts = new Map<number, number>();
  #columns = emptyColumns(FIRST_CAPACITY);
  #count = 0;
  #fits = true;

  constructor(streamIndex: number) {
    this.#streamIndex = streamIndex;
  }

  /** False when the source has too many packets. */
  get fits(): boolean {
    return this.#fits;
  }

  /** By track, from its index. */
  get steps(): ReadonlyMap<number, Steps> {
    return this.#steps;
  }

  get tickSeconds(): ReadonlyMap<number, number> {
    return this.#tickSeconds;
  }

  columns(): PacketColumns {
    const { pts, dts, duration, bytes, flags } = this.#columns;
    return {
      pts: pts.subarray(0, this.#count),
      dts: dts.subarray(0, this.#count),
      duration: duration.subarray(0, this.#count),
      bytes: bytes.subarray(0, this.#count),
      flags: flags.subarray(0, this.#count),
    };
  }

  /** Adds a line of ffprobe's output. */
  addLine(line: string): void {
    const match = PACKET.exec(line);
    if (!match) return this.#addTrack(line);
    if (!this.#fits) return;
    const [, track, pts, dts, duration, bytes, flags = ""] = match;
    this.#addStep(Number(track), Number(dts));
    if (Number(track) !== this.#streamIndex) return;
    if (this.#count === MAX_PACKETS) {
      this.#fits = false;
      return;
    }
    const row = this.#count;
    if (row === this.#columns.pts.length) this.#columns = grown(this.#columns, 2 * row);
    this.#columns.pts[row] = Number(pts);
    this.#columns.dts[row] = Number(dts);
    this.#columns.duration[row] = Number(duration);
    this.#columns.bytes[row] = Number(bytes);
    this.#columns.flags[row] = flagBits(flags);
    this.#count += 1;
  }

  #addTrack(line: string): void {
    const [, track, num, den] = TRACK.exec(line) ?? [];
    if (track !== undefined) this.#tickSeconds.set(Number(track), Number(num) / Number(den));
  }

  #addStep(track: number, dts: number): void {
    if (Number.isNaN(dts)) return;
    const step = dts - (this.#lastDts.get(track) ?? dts);
    this.#lastDts.set(track, dts);
    const known = this.#steps.get(track) ?? { longest: 0, back: 0 };
    this.#steps.set(track, { longest: Math.max(known.longest, step), back: Math.max(known.back, -step) });
  }
}

const flagBits = (flags: string): number =>
  (flags.includes("K") ? KEYFRAME : 0) | (flags.includes("D") ? DISCARD : 0) | (flags.includes("C") ? CORRUPT : 0);

const emptyColumns = (capacity: number): PacketColumns => ({
  pts: new Float64Array(capacity),
  dts: new Float64Array(capacity),
  duration: new Float64Array(capacity),
  bytes: new Uint32Array(capacity),
  flags: new Uint8Array(capacity),
});

function grown(from: PacketColumns, capacity: number): PacketColumns {
  const to = emptyColumns(capacity);
  to.pts.set(from.pts);
  to.dts.set(from.dts);
  to.duration.set(from.duration);
  to.bytes.set(from.bytes);
  to.flags.set(from.flags);
  return to;
}
