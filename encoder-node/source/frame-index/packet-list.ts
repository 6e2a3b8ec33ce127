// Packets as ffprobe lists them, kept in little memory: a film of two hours has some 400,000 of its picture alone.

/** Columns of one list; row for row the packets of a track in decoding order. Ticks that ffprobe does not know are NaN. */
export type PacketColumns = {
  readonly pts: Float64Array;
  readonly dts: Float64Array;
  readonly duration: Float64Array;
  readonly bytes: Uint32Array;
  readonly flags: Uint8Array;
};

/** Bits of `flags`. `DISCARD`: needed by others, but not shown (edit lists). */
export const KEYFRAME = 1;
export const DISCARD = 2;
export const CORRUPT = 4;

/** Twelve hours at 120 frames a second; some 170 MB here. */
const MAX_PACKETS = 5_200_000;

const PACKET =
  /^packet\|stream_index=(\d+)\|pts=(-?\d+|N\/A)\|dts=(-?\d+|N\/A)\|duration=(-?\d+|N\/A)\|size=(\d+)\|flags=(\S*)/;

/** In a transport stream, tracks stand below the programmes that they belong to. */
const TRACK = /(?:^|\|)stream\|index=(\d+)\|time_base=(\d+)\/(\d+)/;

/** What to ask ffprobe for, with `-of compact`. */
export const PACKET_ENTRIES = "packet=stream_index,pts,dts,duration,size,flags:stream=index,time_base";

/** The `longest` step from one time of decoding to the next, and the longest one `back`, in ticks. */
type Steps = { readonly longest: number; readonly back: number };

export interface PacketList {
  /** False once there were more packets than any film has. */
  readonly fits: boolean;
  /** Of the track that is read. */
  columns(): PacketColumns;
  /** Of every track, by its index. */
  readonly steps: ReadonlyMap<number, Steps>;
  readonly tickSeconds: ReadonlyMap<number, number>;
}

export interface PacketReader extends PacketList {
  /** The next piece of ffprobe's answer, cut anywhere. */
  take(text: string): void;
}

/** Reads the packets of one track; of all others only how their times go on. */
export function packetReader(streamIndex: number): PacketReader {
  let room = 1 << 15;
  let count = 0;
  let fits = true;
  let rest = "";
  let columns = emptyColumns(room);
  const steps = new Map<number, Steps>();
  const tickSeconds = new Map<number, number>();
  const last = new Map<number, number>();

  const takeStep = (track: number, dts: number): void => {
    if (Number.isNaN(dts)) return;
    const step = dts - (last.get(track) ?? dts);
    last.set(track, dts);
    const known = steps.get(track) ?? { longest: 0, back: 0 };
    steps.set(track, { longest: Math.max(known.longest, step), back: Math.max(known.back, -step) });
  };

  const takeTrack = (line: string): void => {
    const [, track, num, den] = TRACK.exec(line) ?? [];
    if (track !== undefined) tickSeconds.set(Number(track), Number(num) / Number(den));
  };

  const takeLine = (line: string): void => {
    const match = PACKET.exec(line);
    if (!match) return takeTrack(line);
    if (!fits) return;
    const [, track, pts, dts, duration, bytes, flags = ""] = match;
    takeStep(Number(track), Number(dts));
    if (Number(track) !== streamIndex) return;
    if (count === MAX_PACKETS) {
      fits = false;
      return;
    }
    if (count === room) {
      room *= 2;
      columns = grown(columns, room);
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
    take(text) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) takeLine(line);
    },
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

const emptyColumns = (room: number): PacketColumns => ({
  pts: new Float64Array(room),
  dts: new Float64Array(room),
  duration: new Float64Array(room),
  bytes: new Uint32Array(room),
  flags: new Uint8Array(room),
});

function grown(from: PacketColumns, room: number): PacketColumns {
  const to = emptyColumns(room);
  to.pts.set(from.pts);
  to.dts.set(from.dts);
  to.duration.set(from.duration);
  to.bytes.set(from.bytes);
  to.flags.set(from.flags);
  return to;
}
