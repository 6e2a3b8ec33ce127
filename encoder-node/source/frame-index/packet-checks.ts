// Checks that each packet of a track is a single frame that is shown once, at the packet's timestamp. Pure.
import type { FrameIndex } from "#shared/media/frame-index.ts";
import { err, ok, type Result } from "#shared/result.ts";
import { CORRUPT, DISCARD, KEYFRAME, type PacketColumns, type PacketList } from "./packet-list.ts";

/** The error completes "The video cannot be split into chunks, because". */
export type FrameIndexReading = Result<FrameIndex, string>;

export type TrackHead = {
  readonly timeBase: { readonly num: number; readonly den: number };
  /** False only where ffprobe reports `progressive`, or nothing. */
  readonly interlaced: boolean;
  /** The end that the track's header declares, in ticks; null if it declares none. */
  readonly declaredEndTicks: number | null;
  /** The start of the file's timeline, in µs. */
  readonly startUs: number;
  /** True if ffmpeg takes jumps of timestamps in this format for discontinuities, and shifts the frames after them. */
  readonly isDiscontinuous: boolean;
};

/** The decoded first frames. */
export type Sample = {
  readonly packets: number;
  /** In ticks; NaN for a frame without a timestamp. */
  readonly frames: readonly number[];
};

/** Maximum distance of decoding order and presentation order: a DPB holds 16 frames (H.264 A.3.1 h, H.265 A.4.2). */
const MAX_REORDER = 16;
/**
 * ffmpeg's `-dts_delta_threshold`, and the most by which timestamps may go back (ffmpeg_demux.c,
 * ts_discontinuity_detect). In seconds.
 */
const DISCONTINUITY_SECONDS = 10;
const DISCONTINUITY_BACK_SECONDS = 0.1;
/** Seconds by which a track may end before its declared end. */
const MISSING_END = 1;
/** Fields have half the distance of frames. Timestamps that are rounded to milliseconds stay above this share. */
const FIELD_SPACING = 0.7;

export function checkPackets(head: TrackHead, sample: Sample, packets: PacketList): FrameIndexReading {
  const columns = packets.columns();
  const packetProblem =
    (packets.fits ? null : "it has too many frames") ??
    problemOfPackets(columns) ??
    problemOfSteps(head, columns, packets) ??
    problemOfSample(columns, sample) ??
    problemOfEnd(head, columns);
  if (packetProblem !== null) return err(packetProblem);
  const order = presentationOrder(columns);
  const orderProblem =
    problemOfOrder(columns, order, head) ?? (head.interlaced ? problemOfSpacing(columns, order) : null);
  return orderProblem === null ? ok(frameIndexOf(head, columns, order)) : err(orderProblem);
}

function problemOfPackets({ pts, bytes, flags }: PacketColumns): string | null {
  if (pts.length < 2) return "it has fewer than two frames";
  if (pts.some(Number.isNaN)) return "its frames have no presentation timestamps";
  if (bytes.includes(0)) return "some of its frames are empty";
  if (flags.some((flag) => (flag & CORRUPT) !== 0)) return "it is damaged";
  if (((flags[0] ?? 0) & KEYFRAME) === 0) return "it does not start with a keyframe";
  const first = pts[0] ?? 0;
  if (pts.some((time) => time < first)) return "its first frames depend on frames before its start";
  return null;
}

function problemOfSteps(head: TrackHead, { pts }: PacketColumns, { steps, tickSeconds }: PacketList): string | null {
  const jump = "its timestamps jump";
  for (const [track, { longest, back }] of steps) {
    const seconds = tickSeconds.get(track) ?? 0;
    if (
      head.isDiscontinuous &&
      (longest * seconds > DISCONTINUITY_SECONDS || back * seconds > DISCONTINUITY_BACK_SECONDS)
    )
      return jump;
  }
  const { num, den } = head.timeBase;
  const lateBy = ((pts[0] ?? 0) * num) / den - head.startUs / 1e6;
  return head.isDiscontinuous && lateBy > DISCONTINUITY_SECONDS ? "its video starts long after its other tracks" : null;
}

/** The decoder must return exactly the frames of the first packets. */
function problemOfSample({ pts, flags }: PacketColumns, { packets, frames }: Sample): string | null {
  const expected = [...pts.subarray(0, packets)].filter((_, at) => ((flags[at] ?? 0) & DISCARD) === 0);
  const presented = frames.toSorted((a, b) => a - b);
  const same = expected.toSorted((a, b) => a - b).every((time, at) => time === presented[at]);
  return same && expected.length === presented.length ? null : "its packets are not single frames";
}

function problemOfEnd({ declaredEndTicks, timeBase }: TrackHead, { pts, duration }: PacketColumns): string | null {
  if (declaredEndTicks === null) return null;
  const end = pts.reduce((latest, time, at) => Math.max(latest, time + (duration[at] || 0)), Number.NEGATIVE_INFINITY);
  const missing = ((declaredEndTicks - end) * timeBase.num) / timeBase.den;
  return missing > MISSING_END ? "it ends before its declared end" : null;
}

/** The rows of the frames that are shown, in presentation order. */
function presentationOrder({ pts, flags }: PacketColumns): Uint32Array {
  const presented = Uint32Array.from(pts.keys()).filter((row) => ((flags[row] ?? 0) & DISCARD) === 0);
  return presented.sort((a, b) => (pts[a] ?? 0) - (pts[b] ?? 0));
}

/** ffmpeg drops a frame that follows its predecessor sooner than this. In seconds. */
const SHORTEST_STEP = 0.001;

function problemOfOrder(
  { pts, flags }: PacketColumns,
  order: Uint32Array,
  { timeBase: { num, den } }: TrackHead,
): string | null {
  if (order.length < 2) return "it has fewer than two frames";
  let keyframe = -1;
  for (const [at, row] of order.entries()) {
    const step = at > 0 ? (((pts[row] ?? 0) - (pts[order[at - 1] ?? 0] ?? 0)) * num) / den : SHORTEST_STEP;
    if (step < SHORTEST_STEP) return "two of its frames have the same timestamp";
    if (((flags[row] ?? 0) & KEYFRAME) === 0) continue;
    if (row < keyframe) return "its timestamps do not increase";
    keyframe = row;
  }
  // Counts only frames that are shown: there are other packets between them.
  const place = new Uint32Array(pts.length);
  let presented = 0;
  for (const row of place.keys()) place[row] = ((flags[row] ?? 0) & DISCARD) === 0 ? presented++ : presented;
  const far = order.some((row, at) => Math.abs((place[row] ?? 0) - at) > MAX_REORDER);
  return far ? "its timestamps do not increase" : null;
}

function problemOfSpacing({ pts }: PacketColumns, order: Uint32Array): string | null {
  const gaps = Float64Array.from(order.subarray(1), (row, at) => (pts[row] ?? 0) - (pts[order[at] ?? 0] ?? 0));
  const median = gaps.toSorted()[gaps.length >> 1] ?? 0;
  return gaps.some((gap) => gap < median * FIELD_SPACING) ? "some of its packets may be single fields" : null;
}

function frameIndexOf(head: TrackHead, { pts, duration, bytes, flags }: PacketColumns, order: Uint32Array): FrameIndex {
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

/** Rounds like av_rescale_q, with which ffmpeg shifts timestamps: to the nearest tick, halves away from zero. */
function zeroTicks({ startUs, timeBase: { num, den } }: TrackHead): number {
  const divisor = BigInt(num) * 1_000_000n;
  const product = BigInt(Math.abs(startUs)) * BigInt(den);
  const ticks = Number((product + divisor / 2n) / divisor);
  return startUs < 0 ? -ticks : ticks;
}
