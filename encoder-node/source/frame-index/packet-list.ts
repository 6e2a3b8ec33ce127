// The packets of a track, in little memory: the video of two hours has about 400,000 packets.

/** One row per packet, in decoding order. Ticks are NaN when ffprobe does not know them. */
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

const PACKET =
  /^packet\|stream_index=(\d+)\|pts=(-?\d+|N\/A)\|dts=(-?\d+|N\/A)\|duration=(-?\d+|N\/A)\|size=(\d+)\|flags=(\S*)/;

/** In a transport stream, tracks are listed within their programs. */
const TRACK = /(?:^|\|)stream\|index=(\d+)\|time_base=(\d+)\/(\d+)/;

/** The value of `-show_entries`, with `-of compact`. */
export const PACKET_ENTRIES = "packet=stream_index,pts,dts,duration,size,flags:stream=index,time_base";

/** The `longest` step from one decoding timestamp to the next, and the longest step `back`, in ticks. */
type Steps = { readonly longest: number; readonly back: number };

export interface PacketList {
  /** False when the source has too many packets. */
  readonly fits: boolean;
  /** The packets of the track that is read. */
  columns(): PacketColumns;
  /** For each track, by its index. */
  readonly steps: ReadonlyMap<number, Steps>;
  readonly tickSeconds: ReadonlyMap<number, number>;
}

export interface PacketReader extends PacketList {
  /** Adds one line of ffprobe's output. */
  addLine(line: string): void;
}

/** Reads the packets of one track, and only the timestamp steps of all others. */
export function packetReader(streamIndex: number): PacketReader {
  let capacity = 1 << 15;
  let count = 0;
  let fits = true;
  let columns = emptyColumns(capacity);
  const steps = new Map<number, Steps>();
  const tickSeconds = new Map<number, number>();
  const last = new Map<number, number>();

  const addStep = (track: number, dts: number): void => {
    if (Number.isNaN(dts)) return;
    const step = dts - (last.get(track) ?? dts);
    last.set(track, dts);
    const known = steps.get(track) ?? { longest: 0, back: 0 };
    steps.set(track, { longest: Math.max(known.longest, step), back: Math.max(known.back, -step) });
  };

  const addTrack = (line: string): void => {
    const [, track, num, den] = TRACK.exec(line) ?? [];
    if (track !== undefined) tickSeconds.set(Number(track), Number(num) / Number(den));
  };

  const addLine = (line: string): void => {
    const match = PACKET.exec(line);
    if (!match) return addTrack(line);
    if (!fits) return;
    const [, track, pts, dts, duration, bytes, flags = ""] = match;
    addStep(Number(track), Number(dts));
    if (Number(track) !== streamIndex) return;
    if (count === MAX_PACKETS) {
      fits = false;
      return;
    }
    if (count === capacity) {
      capacity *= 2;
      columns = grown(columns, capacity);
    }
    columns.pts[count] = Number(pts);
    columns.dts[count] = Number(dts);
    columns.duration[count] = Number(duration);
    columns.bytes[count] = Number(bytes);
    columns.flags[count] =
      (flags.includes("K") ? KEYFRAME : 0) | (flags.includes("D") ? DISCARD : 0) | (flags.includes("C") ? CORRUPT : 0);
    count += 1;
  };

  return {
    addLine,
    get fits() {
      return fits;
    },
    columns: () => ({
      pts: columns.pts.subarray(0, count),
      dts: columns.dts.subarray(0, count),
      duration: columns.duration.subarray(0, count),
      bytes: columns.bytes.subarray(0, count),
      flags: columns.flags.subarray(0, count),
    }),
    steps,
    tickSeconds,
  };
}

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
