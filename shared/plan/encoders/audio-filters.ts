// The filters of audio: the mix of channels, and silence for gaps. ffmpeg builds these filters again whenever the
// sample rate or the channels of the source change. No filter may therefore rely on being at the start of the source.
import type { TrackContainer } from "../../format/containers.ts";
import { chainText, quoted } from "../command/filter-text.ts";
import { COUNTING_CONTAINERS } from "../filters/frame-timing.ts";
import { channelsOf, isMixable, type SpeakerLayout, sourceLayout, speakersOf } from "../source/channel-layouts.ts";
import type { AudioTrack } from "../source/source-tracks.ts";

/** Containers in which audio has no timestamps. Gaps must become silence, or all audio after them would play early. */
export const WITHOUT_TIMES: ReadonlySet<TrackContainer> = new Set(["wav", "mp3", "aac", "flac"]);

/** Handling of gaps: keep them as timestamps, fill them with silence, or fill them with silence from time 0 on. */
export type Gaps = "kept" | "filled" | "filled from 0";

/** PCM in mov has a start, but its samples follow each other. */
export function gapsIn(container: TrackContainer, codec: string): Gaps {
  // Next to video, a late start matters as well. Ogg has timestamps, but ffmpeg's demuxer and players ignore the first.
  if (COUNTING_CONTAINERS.has(container)) return "filled from 0";
  return WITHOUT_TIMES.has(container) || (container === "mov" && codec.startsWith("pcm")) ? "filled" : "kept";
}

/** A gain in dB for all of the audio, and what the limiter after it needs; `limitDb` null: no limiter. */
export type Gain = { readonly gainDb: number; readonly limitDb: number | null; readonly sampleRateHz: number };

type FilterOptions = {
  readonly gaps: Gaps;
  /** Start of reading in the source, in ms. The filters count from there. */
  readonly seekMs: number;
  /** Replaces the limiter of a downmix. Left out: the loudness stays as it is. */
  readonly gain?: Gain | undefined;
};

/** Value of `-af` that gives a track this layout; empty if it needs no filter. */
export function audioFilters(layout: SpeakerLayout, track: AudioTrack, options: FilterOptions): string {
  const { gaps, seekMs, gain } = options;
  const mix = gain ? [...unlimitedMix(layout, track), ...gainFilters(gain)] : mixFilters(layout, track);
  if (gaps === "filled from 0") return filledFromZero(mix, Math.max(0, track.startMs - seekMs));
  return chainText(gaps === "kept" ? mix : [...mix, FILL_GAPS]);
}

/**
 * Fills gaps longer than this, in seconds, and drops longer overlaps. By default swresample ignores less than 0.1 s, so
 * that later audio plays early. Shorter than a lost packet of Opus (20 ms), longer than the jitter of recorders.
 */
const MIN_GAP_SECONDS = 0.015;

export const FILL_GAPS = `aresample=async=1:min_hard_comp=${MIN_GAP_SECONDS}`;

/** Fills every gap that swresample sees, from 1 ms on. For audio without jitter. */
const FILL_ALL_GAPS = "aresample=async=1:min_hard_comp=0.001";

/** Decoded audio may start this much later than stated, because the stated start may include the encoder's padding. */
const LATE_TOLERANCE_MS = 100;

/**
 * Fills gaps, and the time from 0 to the start of the track. Only the first build of these filters gets audio from
 * before `limit`. `aloop` puts the first sample into its own frame, and repeats it. That frame is moved to 0, so that a
 * gap follows. `aloop` counts samples and ignores timestamps, so other gaps are filled before it, and no jitter
 * follows. Filters that hold frames back, such as `concat`, lose these frames in ffmpeg 5.1 when filters are built
 * again.
 */
function filledFromZero(mix: readonly string[], lateMs: number): string {
  const limit = String(Number(((lateMs + LATE_TOLERANCE_MS) / 1000).toFixed(6)));
  const moved = `asetpts=${quoted(`if(eq(N,0)*lt(T,${limit}),0,PTS-1/SR/TB)`)}`;
  return chainText([...mix, FILL_GAPS, "aloop=loop=1:size=1", "atrim=start_sample=1", moved, FILL_ALL_GAPS]);
}

/**
 * Limits peaks to −0.5 dB, because a mix of channels may exceed full scale. ffmpeg mixes by ITU-R BS.775 (center and
 * surround at −3 dB, no LFE). It scales the mix down only for integer samples, by up to 7.7 dB, which makes dialogue
 * hard to hear. So channels are mixed in floating point, without scaling, and peaks are limited.
 */
const LIMITER = "alimiter=limit=0.944:level=0";

/** The mix without a limiter: a gain may still be applied. */
export const unlimitedMix = (layout: SpeakerLayout, track: AudioTrack): string[] =>
  mixFilters(layout, track).filter((filter) => filter !== LIMITER);

/** At this rate the samples of a limited signal are close to its true peaks (ITU-R BS.1770-4 annex 2: 4 × 48 kHz). */
export const OVERSAMPLED_HZ = 192_000;

/** Resampling a limited signal to 48 kHz raised its true peak by up to 0.11 dB (bursts of noise, 2026-11-28). */
const RESAMPLING_HEADROOM_DB = 0.12;

/** ffmpeg's limiter delays audio by its attack time; `latency` compensates that (ffmpeg 5.1). */
export function gainFilters({ gainDb, limitDb, sampleRateHz }: Gain): string[] {
  if (limitDb === null) return volumeFilter(gainDb);
  const limit = (10 ** ((limitDb - RESAMPLING_HEADROOM_DB) / 20)).toFixed(6);
  const limiter = `alimiter=limit=${limit}:level=0:latency=1`;
  return [...volumeFilter(gainDb), OVERSAMPLING, limiter, `aresample=${sampleRateHz}`];
}

/** The filter that applies a gain; none for 0 dB. */
export const volumeFilter = (gainDb: number): string[] =>
  gainDb === 0 ? [] : [`volume=volume=${gainDb}dB:precision=float`];

export const OVERSAMPLING = `aresample=${OVERSAMPLED_HZ}`;

/** Matches a missing layout, and ffprobe's text for channels without a layout. */
const UNNAMED = /^(?:\d+ channels)?$/;

/** The filters that prepare a track, and mix its channels to a layout; none if it has them already. */
export const mixFilters = (layout: SpeakerLayout, track: AudioTrack): string[] => [
  ...(track.prepared ?? []),
  ...layoutFilters(layout, track),
];

function layoutFilters(layout: SpeakerLayout, track: AudioTrack): string[] {
  const source = sourceLayout(track.layout, track.channels);
  const wanted = channelsOf(layout);
  const has = track.channels ?? wanted;
  const isUnknown = source === null && has > 2 && UNNAMED.test(track.layout ?? "");
  if (isUnknown || !isMixable(track.layout)) return [panOf(track.layout ?? "", has, wanted), LIMITER];
  // If the number of channels is unknown, ffmpeg converts any layout that it finds.
  if (source === layout) return track.layout === layout ? [] : [`aformat=channel_layouts=${layout}`];
  // ffmpeg's matrix would reduce each side by 3 dB. FL and FR are for a source that becomes stereo later.
  if (source === "mono" && layout === "stereo") return ["pan=stereo|FL=FC+FL|FR=FC+FR"];
  return (source === null ? has : channelsOf(source)) > wanted
    ? ["aformat=sample_fmts=fltp", `aformat=channel_layouts=${layout}`, LIMITER]
    : [`aformat=channel_layouts=${layout}`];
}

/** A mix that ffmpeg has no matrix for. `<` normalizes the sum. */
function panOf(name: string, has: number, wanted: number): string {
  if (name.startsWith("ambisonic")) return ambisonicPan(name, has, wanted);
  const [left, right] = sides(name, has);
  const sum = (channels: readonly number[]): string => channels.map((channel) => `c${channel}`).join("+");
  if (wanted === 1) return `pan=mono|c0<${sum([...new Set([...left, ...right])].toSorted((a, b) => a - b))}`;
  return `pan=stereo|c0<${sum(left)}|c1<${sum(right)}`;
}

/**
 * Two virtual microphones, 90° to the left and right, of the sphere's first two components (W and Y in the order ACN).
 * A stereo pair outside the sphere follows the sphere's components.
 */
function ambisonicPan(name: string, has: number, wanted: number): string {
  const pair = name.endsWith("+stereo") ? [`+c${has - 2}`, `+c${has - 1}`] : ["", ""];
  if (wanted === 1) return `pan=mono|c0=c0${pair.map((channel) => channel.replace("+", "+0.5*")).join("")}`;
  return `pan=stereo|c0=0.7*c0+0.7*c1${pair[0]}|c1=0.7*c0-0.7*c1${pair[1]}`;
}

/** Channels of each side. Channels of unknown place count as pairs of left and right, as recorders order them. */
function sides(name: string, has: number): readonly [readonly number[], readonly number[]] {
  const channels = Array.from({ length: has }, (_, at) => at);
  const speakers = speakersOf(name);
  const left = channels.filter((at) => !/R|LFE/.test(speakers[at] ?? "R"));
  const right = channels.filter((at) => !/L/.test(speakers[at] ?? "L"));
  if (left.length > 0 && right.length > 0) return [left, right];
  if (has === 1) return [channels, channels];
  return [channels.filter((at) => at % 2 === 0), channels.filter((at) => at % 2 === 1)];
}
