// When frames are shown: at their own times where codec and container can keep them, else at a constant rate.
import type { VideoCodec } from "../../format/codecs.ts";
import type { TrackContainer } from "../../format/containers.ts";
import { fraction } from "../../media/media-probe.ts";
import type { VideoTrack } from "../source/source-tracks.ts";

/** Time base for frames that keep their own times: MPEG's clock, finer than any frame distance, exact for whole ms. */
const OWN_TIMES_BASE = "1/90000";
/** Assumed for sources that do not say. */
const ASSUMED_FPS = 30;

/** Codecs whose encoders plan by the times of the frames, or can be told the mean rate. Others count frames. */
const VARIABLE_CODECS: ReadonlySet<VideoCodec> = new Set(["h264", "hevc", "vp8", "vp9", "av1"]);
/** Containers with a time for each frame that players go by: flv and asf have one, but their players expect a rate. */
const VARIABLE_CONTAINERS: ReadonlySet<TrackContainer> = new Set(["mp4", "mov", "mkv", "webm", "mpegts", "3gp"]);
/** Containers that count frames from their beginning: what begins late would be early. */
export const COUNTING_CONTAINERS: ReadonlySet<TrackContainer> = new Set(["avi", "ogv"]);

/** Usual rates, ascending, for sources that have none of their own. */
const USUAL_RATES = [
  "5",
  "10",
  "12",
  "15",
  "20",
  "24000/1001",
  "24",
  "25",
  "30000/1001",
  "30",
  "50",
  "60000/1001",
  "60",
];

type Rates = { readonly legal: readonly string[]; readonly anyUpTo: number };
/**
 * Rates of codecs that have not all. MPEG-2: ISO 13818-2 table 6-4, which is all that players of its main profile know.
 * H.263 counts in 1001/30000 s. MPEG-4 has time bases of 16 bits, so that 120000/1001 is beyond it; of the other old ones
 * nobody expects more either.
 */
const OLD: Rates = { legal: USUAL_RATES, anyUpTo: 60 };
const RATES: Readonly<Partial<Record<VideoCodec, Rates>>> = {
  mpeg2video: { legal: USUAL_RATES.filter((rate) => (fraction(rate) ?? 0) > 23), anyUpTo: 0 },
  h263: { legal: USUAL_RATES.filter((rate) => (fraction(rate) ?? 0) < 30), anyUpTo: 0 },
  mpeg4: OLD,
  flv: OLD,
  wmv2: OLD,
  theora: OLD,
};
const ANY: Rates = { legal: USUAL_RATES, anyUpTo: Infinity };

export type FrameTiming = {
  /** Filters that make the rate constant. */
  readonly filters: readonly string[];
  /** Options of the output. */
  readonly argv: readonly string[];
  /** Frames per second: exact, or on average where they vary. */
  readonly fps: number;
  /** Whether frames keep times of their own, so that the encoder cannot take its rate from the time base. */
  readonly isVariable: boolean;
};

type Wish = { readonly codec: VideoCodec; readonly fps: string | null };

/**
 * The timing of a picture track in a container. `vfr` neither repeats frames over a gap nor fills up a late start, which
 * the default of 5.1 does for mp4. With the default time base (one tick per frame) a constant rate stays exact, also
 * from containers that round to milliseconds; varying ones get a fine base.
 */
export function frameTiming({ codec, fps }: Wish, container: TrackContainer, track: VideoTrack): FrameTiming {
  const argv = ["-fps_mode", "vfr"];
  const mean = track.fps ?? ASSUMED_FPS;
  const keepsTimes = VARIABLE_CODECS.has(codec) && VARIABLE_CONTAINERS.has(container);
  if (fps === null && keepsTimes) {
    if (track.constantRate) return { filters: [], argv, fps: mean, isVariable: false };
    return { filters: [], argv: [...argv, "-enc_time_base", OWN_TIMES_BASE], fps: mean, isVariable: true };
  }
  const rate = fps ?? constantRate(mean, track.constantRate, RATES[codec] ?? ANY);
  const start = COUNTING_CONTAINERS.has(container) ? ":start_time=0" : "";
  return { filters: [`fps=${rate}${start}`], argv, fps: fraction(rate) ?? mean, isVariable: false };
}

/**
 * The source's own rate where the codec has it; else a whole multiple or, failing that, a whole fraction of it, so that
 * motion stays even; else the nearest one, or the next one up where that would lose more than a few frames.
 */
function constantRate(sourceFps: number, isExact: boolean, { legal, anyUpTo }: Rates): string {
  const rates = legal.map((rate) => ({ rate, fps: fraction(rate) ?? 0 }));
  const same = rates.find(({ fps }) => isMultiple(fps, sourceFps, 1));
  if (same) return same.rate;
  if (isExact && sourceFps <= anyUpTo + 0.01) return exactFraction(sourceFps);
  const multiple = rates.find(({ fps }) => isMultiple(fps, sourceFps));
  const part = rates.findLast(({ fps }) => isMultiple(sourceFps, fps));
  const nearest = rates.toSorted((a, b) => Math.abs(a.fps - sourceFps) - Math.abs(b.fps - sourceFps))[0];
  const above = rates.find(({ fps }) => fps >= sourceFps);
  const usual = nearest && nearest.fps >= sourceFps * ENOUGH ? nearest : above;
  return (isExact ? (multiple ?? part) : undefined)?.rate ?? usual?.rate ?? rates.at(-1)?.rate ?? String(ASSUMED_FPS);
}

/** A mean of 31 is that of a film with 30 frames per second rather than 50. */
const ENOUGH = 0.96;

/** Whether `a` is `times` (any whole number when left out) times `b`, to the difference between 30 and 29.99. */
function isMultiple(a: number, b: number, times = Math.round(a / b)): boolean {
  return times >= 1 && Math.abs(a - times * b) <= a * 0.0003;
}

/** Of whole rates and those of NTSC, which are all that count as constant. */
function exactFraction(fps: number): string {
  const whole = Math.round(fps);
  return Math.abs(fps - whole) <= whole * 0.0003 ? String(whole) : `${whole * 1000}/1001`;
}
