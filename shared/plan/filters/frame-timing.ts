// Frame timing. Frames keep their own times if codec and container support it; otherwise the rate is constant.
import type { VideoCodec } from "../../format/codecs.ts";
import type { TrackContainer } from "../../format/containers.ts";
import { fraction } from "../../media/media-probe.ts";
import { lastEnd } from "../source/output-length.ts";
import type { VideoTrack } from "../source/source-tracks.ts";
import type { Trim } from "../source/trim.ts";

/** Time base of frames that keep their own times: MPEG's clock, finer than any frame distance, exact for whole ms. */
const OWN_TIMES_BASE = "1/90000";
/** Assumed for sources that do not state a rate. */
const ASSUMED_FPS = 30;
/** Captions are drawn into frames, so the frames of outputs with captions last 0.2 s at most. */
const LEAST_CAPTIONED_FPS = 5;
/** Higher rates of varying frames are often only the unit of their times. */
const MOST_CAPTIONED_FPS = 60;
/** Rate of captioned frames if the usual rate is not known. */
const CAPTIONED_FPS = 20;

/** Codecs whose encoders use the times of frames, or accept the mean rate as an option. Others count frames. */
const VARIABLE_CODECS: ReadonlySet<VideoCodec> = new Set(["h264", "hevc", "vp8", "vp9", "av1"]);
/** Containers whose players use the time of each frame. flv and asf have times, but their players expect a rate. */
const VARIABLE_CONTAINERS: ReadonlySet<TrackContainer> = new Set(["mp4", "mov", "mkv", "webm", "mpegts", "3gp"]);
/** Containers that count frames from their start: a track that starts late would play early. */
export const COUNTING_CONTAINERS: ReadonlySet<TrackContainer> = new Set(["avi", "ogv"]);

/** Usual rates, ascending, for sources without a constant rate. */
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

/**
 * `legal`: rates to choose from, ascending. `anyUpTo`: any other exact rate is allowed up to this. In frames per
 * second.
 */
type Rates = { readonly legal: readonly string[]; readonly anyUpTo: number };
/**
 * Rates of codecs that do not allow all rates. MPEG-2: ISO 13818-2 table 6-4, the only rates that players of its main
 * profile know. H.263 counts in 1001/30000 s. MPEG-4 has time bases of 16 bits, which excludes 120000/1001. Nobody
 * expects more of the other old codecs either.
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
  /** Frames per second: exact, or the mean if `isVariable`. */
  readonly fps: number;
  /** True if frames keep their own times, so that the encoder cannot take its rate from the time base. */
  readonly isVariable: boolean;
  /** True if `isVariable`, and frames may be shown for many seconds. */
  readonly isSparse?: boolean;
};

type TimingOptions = {
  readonly codec: VideoCodec;
  readonly fps: string | null;
  /** Streams need frames in each segment. */
  readonly isStream?: boolean;
  /** True if captions are drawn into the frames. */
  readonly isCaptioned?: boolean;
};

/**
 * The timing of a video track in a container. `vfr` neither repeats frames over a gap nor fills a late start, unlike
 * the default of ffmpeg 5.1 for mp4. The default time base has a single tick per frame. With it, a constant rate stays
 * exact, even if the source's container rounds to milliseconds. Variable rates get a fine time base.
 */
export function frameTiming(
  { codec, fps, isStream = false, isCaptioned = false }: TimingOptions,
  container: TrackContainer,
  track: VideoTrack,
): FrameTiming {
  const argv = ["-fps_mode", "vfr"];
  const captionedFps = isCaptioned ? filledFps(track) : null;
  const isFilled = captionedFps !== null || (isStream && track.isSparse);
  const mean = captionedFps ?? (isFilled ? track.usualFps : track.fps) ?? ASSUMED_FPS;
  const keepsTimes = VARIABLE_CODECS.has(codec) && VARIABLE_CONTAINERS.has(container) && !isFilled;
  if (fps === null && keepsTimes) {
    if (track.constantRate) return { filters: [], argv, fps: mean, isVariable: false };
    const variable = { filters: [], argv: [...argv, "-enc_time_base:v", OWN_TIMES_BASE], fps: mean, isVariable: true };
    return track.isSparse ? { ...variable, isSparse: true } : variable;
  }
  const rate = fps ?? constantRate(mean, track.constantRate && mean !== LEAST_CAPTIONED_FPS, RATES[codec] ?? ANY);
  const start = COUNTING_CONTAINERS.has(container) ? ":start_time=0" : "";
  return { filters: [`fps=${rate}${start}`], argv, fps: fraction(rate) ?? mean, isVariable: false };
}

/**
 * The rate at which frames are repeated where a frame may last too long for captions; null: no frame does. Recordings
 * may pause though their header states a constant rate.
 */
function filledFps({ fps, constantRate, usualFps }: VideoTrack): number | null {
  if (constantRate) return Math.max(usualFps, LEAST_CAPTIONED_FPS);
  const mean = fps ?? ASSUMED_FPS;
  // ffprobe may count the fields of interlaced video.
  if (isMultiple(usualFps, mean, 2)) return mean;
  const rate = usualFps <= MOST_CAPTIONED_FPS ? Math.max(usualFps, mean) : CAPTIONED_FPS;
  return mean <= rate && rate <= MOST_CAPTIONED_FPS ? Math.max(rate, LEAST_CAPTIONED_FPS) : null;
}

/** Number of frames that the encoder gets; null if unknown. `timing` is null for a copy. */
export function expectedFrameCount(trim: Trim, timing: FrameTiming | null, track: VideoTrack): number | null {
  const isTrimmed = trim.startMs > 0 || (trim.endMs !== null && (track.endMs === null || trim.endMs < track.endMs));
  const keepsFrames = !timing || timing.filters.length === 0;
  if (!isTrimmed && keepsFrames && track.frames !== null) return track.frames;
  const endMs = lastEnd(trim, [track]) ?? trim.endMs;
  // An estimate may be far too short, and a run that makes many more frames than expected is stopped.
  if (track.lengthFrom === "estimate" && endMs !== trim.endMs) return null;
  const fps = keepsFrames ? track.fps : timing.fps;
  if (fps === null || endMs === null) return null;
  return Math.round(((endMs - Math.max(trim.startMs, track.startMs)) / 1000) * fps);
}

/**
 * Returns the source's own rate if the codec allows it. Otherwise a whole multiple or a whole fraction of it, so that
 * motion stays even. Otherwise the nearest rate, or the next higher rate if the nearest would lose more than a few
 * frames.
 */
function constantRate(sourceFps: number, isExact: boolean, { legal, anyUpTo }: Rates): string {
  const rates = legal.map((rate) => ({ rate, fps: fraction(rate) ?? 0 }));
  const same = rates.find(({ fps }) => isMultiple(fps, sourceFps, 1));
  if (same) return same.rate;
  if (isExact && sourceFps <= anyUpTo + 0.01) return exactFraction(sourceFps);
  const multiple = rates.find(({ fps }) => isMultiple(fps, sourceFps));
  const divisor = rates.findLast(({ fps }) => isMultiple(sourceFps, fps));
  const nearest = rates.toSorted((a, b) => Math.abs(a.fps - sourceFps) - Math.abs(b.fps - sourceFps))[0];
  const above = rates.find(({ fps }) => fps >= sourceFps);
  const usual = nearest && nearest.fps >= sourceFps * ENOUGH ? nearest : above;
  return (
    (isExact ? (multiple ?? divisor) : undefined)?.rate ?? usual?.rate ?? rates.at(-1)?.rate ?? String(ASSUMED_FPS)
  );
}

/** A mean of 31 belongs to a source with 30 frames per second rather than 50. */
const ENOUGH = 0.96;

/** True if `a` is `times` (by default any whole number) times `b`. 30 and 29.99 count as the same. */
function isMultiple(a: number, b: number, times = Math.round(a / b)): boolean {
  return times >= 1 && Math.abs(a - times * b) <= a * 0.0003;
}

/** Exact fraction of a whole rate or an NTSC rate. No other rates count as constant. */
function exactFraction(fps: number): string {
  const whole = Math.round(fps);
  return Math.abs(fps - whole) <= whole * 0.0003 ? String(whole) : `${whole * 1000}/1001`;
}
