// Whether a track's packets are its frames, each shown once at the time that its packet says. Pure.
import type { FrameLedger } from "#shared/media/frame-index.ts";
import { CORRUPT, DISCARD, KEYFRAME, type PacketColumns, type PacketList } from "./packet-list.ts";

/** `why` completes "The film cannot be cut, because". */
export type LedgerReading =
  | { readonly ok: true; readonly ledger: FrameLedger }
  | { readonly ok: false; readonly why: string };

export type TrackHead = {
  readonly timeBase: { readonly num: number; readonly den: number };
  /** False only where ffprobe says `progressive`, or nothing. */
  readonly interlaced: boolean;
  /** Where the track says it ends, in ticks; null when it does not. */
  readonly saysEndTicks: number | null;
  /** The file's own zero, in µs. */
  readonly startUs: number;
  /** Whether ffmpeg takes jumps in the times of this format for a new beginning, and moves what follows. */
  readonly jumpsAreMended: boolean;
};

/** What was decoded of the beginning. */
export type Sample = {
  readonly packets: number;
  /** In ticks; NaN for a frame without a time. */
  readonly frames: readonly number[];
};

/** Frames that are decoded before others that are shown earlier: a DPB holds 16 (H.264 A.3.1 h, H.265 A.4.2). */
const MAX_REORDER = 16;
/** ffmpeg's `-dts_delta_threshold`, and how far back it lets times go (ffmpeg_demux.c, ts_discontinuity_detect). In seconds. */
const MENDED_GAP = 10;
const MENDED_STEP_BACK = 0.1;
/** What a track may end before the end that it announces. In seconds. */
const MISSING_END = 1;
/** Fields come at twice the rate of frames; times that are rounded to milliseconds stay above this. */
const FIELD_SPACING = 0.7;

export function judgePackets(head: TrackHead, sample: Sample, packets: PacketList): LedgerReading {
  const columns = packets.columns();
  const why =
    (packets.fits ? null : "it has too many frames") ??
    faultOfPackets(columns) ??
    faultOfSteps(head, columns, packets) ??
    faultOfSample(columns, sample) ??
    faultOfEnd(head, columns);
  if (why !== null) return { ok: false, why };
  const order = presentationOrder(columns);
  const faulty = faultOfOrder(columns, order, head) ?? (head.interlaced ? faultOfSpacing(columns, order) : null);
  return faulty === null ? { ok: true, ledger: ledgerOf(head, columns, order) } : { ok: false, why: faulty };
}

function faultOfPackets({ pts, bytes, flags }: PacketColumns): string | null {
  if (pts.length < 2) return "it has fewer than two frames";
  if (pts.some(Number.isNaN)) return "its frames have no times of presentation";
  if (bytes.includes(0)) return "some of its frames are empty";
  if (flags.some((flag) => (flag & CORRUPT) !== 0)) return "it is damaged";
  if (((flags[0] ?? 0) & KEYFRAME) === 0) return "it does not begin with a keyframe";
  const first = pts[0] ?? 0;
  if (pts.some((time) => time < first)) return "it begins with frames that need others from before its beginning";
  return null;
}

function faultOfSteps(head: TrackHead, { pts }: PacketColumns, { steps, tickSeconds }: PacketList): string | null {
  const jump = "its times jump";
  for (const [track, { longest, back }] of steps) {
    const seconds = tickSeconds.get(track) ?? 0;
    if (head.jumpsAreMended && (longest * seconds > MENDED_GAP || back * seconds > MENDED_STEP_BACK)) return jump;
  }
  const { num, den } = head.timeBase;
  const lateBy = ((pts[0] ?? 0) * num) / den - head.startUs / 1e6;
  return head.jumpsAreMended && lateBy > MENDED_GAP ? "its picture begins long after the rest" : null;
}

/** All frames of the first packets came out of the decoder, and nothing else. */
function faultOfSample({ pts, flags }: PacketColumns, { packets, frames }: Sample): string | null {
  const announced = [...pts.subarray(0, packets)].filter((_, at) => ((flags[at] ?? 0) & DISCARD) === 0);
  const shown = frames.toSorted((a, b) => a - b);
  const same = announced.toSorted((a, b) => a - b).every((time, at) => time === shown[at]);
  return same && announced.length === shown.length ? null : "its packets are not frames one by one";
}

function faultOfEnd({ saysEndTicks, timeBase }: TrackHead, { pts, duration }: PacketColumns): string | null {
  if (saysEndTicks === null) return null;
  const end = pts.reduce((latest, time, at) => Math.max(latest, time + (duration[at] || 0)), Number.NEGATIVE_INFINITY);
  const missing = ((saysEndTicks - end) * timeBase.num) / timeBase.den;
  return missing > MISSING_END ? "it ends before the end that it announces" : null;
}

/** Rows of the frames that are shown, in the order of their times. */
function presentationOrder({ pts, flags }: PacketColumns): Uint32Array {
  const shown = Uint32Array.from(pts.keys()).filter((row) => ((flags[row] ?? 0) & DISCARD) === 0);
  return shown.sort((a, b) => (pts[a] ?? 0) - (pts[b] ?? 0));
}

/** A frame that follows so soon is left out, by the distance to the one before it that is not. In seconds. */
const SHORTEST_STEP = 0.001;

function faultOfOrder(
  { pts, flags }: PacketColumns,
  order: Uint32Array,
  { timeBase: { num, den } }: TrackHead,
): string | null {
  if (order.length < 2) return "it has fewer than two frames";
  let keyframe = -1;
  for (const [at, row] of order.entries()) {
    const step = at > 0 ? (((pts[row] ?? 0) - (pts[order[at - 1] ?? 0] ?? 0)) * num) / den : SHORTEST_STEP;
    if (step < SHORTEST_STEP) return "two of its frames have the same time";
    if (((flags[row] ?? 0) & KEYFRAME) === 0) continue;
    if (row < keyframe) return "its times do not rise";
    keyframe = row;
  }
  // Counted among the frames that are shown: packets of others lie in between.
  const place = new Uint32Array(pts.length);
  let shown = 0;
  for (const row of place.keys()) place[row] = ((flags[row] ?? 0) & DISCARD) === 0 ? shown++ : shown;
  const far = order.some((row, at) => Math.abs((place[row] ?? 0) - at) > MAX_REORDER);
  return far ? "its times do not rise" : null;
}

function faultOfSpacing({ pts }: PacketColumns, order: Uint32Array): string | null {
  const gaps = Float64Array.from(order.subarray(1), (row, at) => (pts[row] ?? 0) - (pts[order[at] ?? 0] ?? 0));
  const median = gaps.toSorted()[gaps.length >> 1] ?? 0;
  return gaps.some((gap) => gap < median * FIELD_SPACING) ? "some of its packets may be single fields" : null;
}

function ledgerOf(head: TrackHead, { pts, duration, bytes, flags }: PacketColumns, order: Uint32Array): FrameLedger {
  const zero = zeroTicks(head);
  const last = order.at(-1) ?? 0;
  const before = order.at(-2) ?? 0;
  const lastDuration = duration[last] || (pts[last] ?? 0) - (pts[before] ?? 0);
  return {
    timeBase: head.timeBase,
    ticks: Float64Array.from(order, (row) => (pts[row] ?? 0) - zero),
    endTicks: (pts[last] ?? 0) + lastDuration - zero,
    bytes: Uint32Array.from(order, (row) => bytes[row] ?? 0),
    keyframes: Uint32Array.from(order.keys()).filter(
      (at) => at === 0 || ((flags[order[at] ?? 0] ?? 0) & KEYFRAME) !== 0,
    ),
    startUs: head.startUs,
  };
}

/** As av_rescale_q does it, by which ffmpeg moves a file's times: to the nearest tick, halves away from zero. */
function zeroTicks({ startUs, timeBase: { num, den } }: TrackHead): number {
  const divisor = BigInt(num) * 1_000_000n;
  const product = BigInt(Math.abs(startUs)) * BigInt(den);
  const ticks = Number((product + divisor / 2n) / divisor);
  return startUs < 0 ? -ticks : ticks;
}
