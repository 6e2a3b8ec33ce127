// What each audio encoder is told: bitrate, sample rate and layout of channels, each the nearest that it takes.
import type { AudioCodec } from "../../format/codecs.ts";
import type { TrackContainer } from "../../format/containers.ts";
import type { AudioTrackSpec } from "../../format/format-spec.ts";
import { sampleRates } from "../../format/resolve-audio.ts";
import { chainText } from "../command/filter-text.ts";
import { COUNTING_CONTAINERS } from "../filters/frame-timing.ts";
import { channelsOf, layoutFor, type SpeakerLayout, sourceLayout } from "../source/channel-layouts.ts";
import type { AudioTrack } from "../source/source-tracks.ts";
import type { AudioEncoder } from "./choose-encoder.ts";

/** A sound track that is encoded: no copy. */
export type EncodedAudio = AudioTrackSpec & { readonly codec: AudioCodec };

/** ffmpeg's options for the sound, from filters to bitrate; `gaps` is by the container when left out. */
export function audioArguments(
  encoder: AudioEncoder,
  spec: EncodedAudio,
  container: TrackContainer,
  track: AudioTrack,
  gaps: Gaps = gapsIn(container),
): string[] {
  const layout = outputLayout(spec, container, track);
  const sampleRateHz = spec.sampleRateHz ?? nearestRate(sampleRates(container, spec.codec), track.sampleRateHz);
  const filters = [...mixFilters(layout, track), ...GAP_FILTERS[gaps]];
  return [
    ...["-c:a", encoder],
    ...(filters.length === 0 ? [] : ["-af", chainText(filters)]),
    ...bitrateArguments(spec, sampleRateHz ?? track.sampleRateHz ?? 48_000, channelsOf(layout)),
    ...(sampleRateHz === null ? [] : ["-ar", String(sampleRateHz)]),
  ];
}

const XIPH: readonly SpeakerLayout[] = ["mono", "stereo", "3.0", "quad", "5.0", "5.1", "6.1", "7.1"];
const STEREO: readonly SpeakerLayout[] = ["mono", "stereo"];
const ANY: readonly SpeakerLayout[] = [
  ...XIPH,
  "2.1",
  "3.0(back)",
  "4.0",
  "quad(side)",
  "3.1",
  "4.1",
  "5.0(side)",
  "5.1(side)",
  "6.0",
  "7.0",
];

/**
 * Layouts that each encoder takes, as its format defines them. AAC's are the channel configurations of ISO 14496-3 table
 * 1.19: ffmpeg writes all others (5.1(side) among them) by a program config element, which browsers cannot decode.
 * Vorbis, Opus and FLAC share theirs; libopus refuses 5.1(side).
 */
const LAYOUTS: Readonly<Record<AudioCodec, readonly SpeakerLayout[]>> = {
  aac: ["mono", "stereo", "3.0", "4.0", "5.0", "5.1", "7.1"],
  ac3: ["mono", "stereo", "3.0", "3.0(back)", "4.0", "quad(side)", "5.0(side)", "2.1", "3.1", "4.1", "5.1(side)"],
  mp2: STEREO,
  mp3: STEREO,
  vorbis: XIPH,
  opus: XIPH,
  flac: XIPH,
  "pcm-s16le": ANY,
  "pcm-u8": ANY,
  "pcm-alaw": ANY,
  "amr-nb": ["mono"],
  wmav2: STEREO,
};

/** An flv says of its sound only whether it is stereo; telephones that play 3gp have two channels at most (3GPP TS 26.234). */
const LAYOUTS_IN: Readonly<Partial<Record<TrackContainer, Partial<Record<AudioCodec, readonly SpeakerLayout[]>>>>> = {
  flv: { "pcm-s16le": STEREO, "pcm-u8": STEREO },
  "3gp": { aac: STEREO },
};

/** `multi` and nothing asked for: all of the source's channels that the codec has; more than eight become two. */
function outputLayout({ codec, channels }: EncodedAudio, container: TrackContainer, track: AudioTrack): SpeakerLayout {
  if (channels === "mono") return "mono";
  const source = sourceLayout(track.layout, track.channels);
  const asked = channels === "stereo" ? "stereo" : (source ?? "stereo");
  return layoutFor(asked, LAYOUTS_IN[container]?.[codec] ?? LAYOUTS[codec]);
}

/**
 * A true peak of −0.5 dB: a mix of channels may exceed full scale. ffmpeg's matrix is that of ITU-R BS.775 (centre and
 * surround at −3 dB, no LFE); it scales it down for whole-number samples only, by up to 7.7 dB, which makes dialogue
 * hard to hear. So channels are mixed in floating point, unscaled, and peaks are limited.
 */
const LIMITER = "alimiter=limit=0.944:level=0";

function mixFilters(layout: SpeakerLayout, track: AudioTrack): string[] {
  const source = sourceLayout(track.layout, track.channels);
  const wanted = channelsOf(layout);
  const has = track.channels ?? wanted;
  if (source === null && has > 2) return [panOf(has, wanted), LIMITER];
  // A probe that knows no number of channels is not to be argued with: ffmpeg converts what comes.
  if (source === layout) return track.layout === layout ? [] : [`aformat=channel_layouts=${layout}`];
  // ffmpeg's matrix would take 3 dB from each side.
  if (source === "mono" && layout === "stereo") return ["pan=stereo|c0=c0|c1=c0"];
  const mixes = source !== null && channelsOf(source) > wanted;
  return mixes
    ? ["aformat=sample_fmts=fltp", `aformat=channel_layouts=${layout}`, LIMITER]
    : [`aformat=channel_layouts=${layout}`];
}

/** Channels without known places are taken for pairs of left and right, as recorders lay them out; `<` keeps the sum in bounds. */
function panOf(has: number, wanted: number): string {
  const from = (start: number, step: number): string =>
    Array.from({ length: Math.ceil((has - start) / step) }, (_, at) => `c${start + at * step}`).join("+");
  return wanted === 1 ? `pan=mono|c0<${from(0, 1)}` : `pan=stereo|c0<${from(0, 2)}|c1<${from(1, 2)}`;
}

/** Containers in which sound has no times of its own: gaps must be silence, or all after them would be early. */
const WITHOUT_TIMES: ReadonlySet<TrackContainer> = new Set(["wav", "mp3", "aac", "flac"]);

/** What becomes of gaps: kept as times, filled with silence, or filled with silence from time 0 on. */
type Gaps = "kept" | "filled" | "filled from 0";

function gapsIn(container: TrackContainer): Gaps {
  // Beside a picture a late start matters as well. Ogg has times, of which ffmpeg's reader and players drop the first.
  if (COUNTING_CONTAINERS.has(container)) return "filled from 0";
  return WITHOUT_TIMES.has(container) ? "filled" : "kept";
}

const GAP_FILTERS: Readonly<Record<Gaps, readonly string[]>> = {
  kept: [],
  filled: ["aresample=async=1"],
  "filled from 0": ["aresample=async=1:first_pts=0"],
};

/** Null when the source's own rate is one of them, or nobody knows it. Else the next one up, so that nothing is lost. */
function nearestRate(rates: readonly number[], sourceHz: number | null): number | null {
  if (sourceHz === null || rates.includes(sourceHz)) return rates.length === 1 ? (rates[0] ?? null) : null;
  const ascending = rates.toSorted((a, b) => a - b);
  return ascending.find((hz) => hz >= sourceHz) ?? ascending.at(-1) ?? null;
}

function bitrateArguments({ codec, bitrateKbps }: EncodedAudio, sampleRateHz: number, channels: number): string[] {
  if (bitrateKbps === null) return [];
  return ["-b:a", `${possibleKbps(codec, bitrateKbps, sampleRateHz, channels)}k`];
}

/** Bitrates of MPEG layer 2 (ISO 11172-3 table B.2; 13818-3 for the lower sample rates). */
const LAYER_2 = [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384];
const LAYER_2_LOW = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
/** Of layer 3 the most, by the lowest sample rate of each version (ISO 11172-3, 13818-3, "MPEG 2.5"). */
const LAYER_3_MAX: readonly (readonly [fromHz: number, kbps: number])[] = [
  [32_000, 320],
  [16_000, 160],
  [0, 64],
];
/** Modes of AMR narrowband (3GPP TS 26.071). */
const AMR_KBPS = [4.75, 5.15, 5.9, 6.7, 7.4, 7.95, 10.2, 12.2];
/** libopus refuses more for a channel. */
const OPUS_MAX_PER_CHANNEL = 256;
/** What ffmpeg's ac3 encoder can squeeze six channels into, and how much fewer need less. */
const AC3_MIN_PER_CHANNEL = 11;
/** libvorbis: from the lowest sample rate, kbit/s at least for mono, and per channel from and to (each tried). */
const VORBIS: readonly (readonly [fromHz: number, mono: number, min: number, max: number])[] = [
  [44_100, 32, 24, 224],
  [32_000, 32, 32, 160],
  [22_050, 16, 16, 80],
  [16_000, 16, 16, 83],
  [11_025, 16, 14, 42],
  [0, 8, 8, 32],
];

/** The bitrate nearest to the one asked for that the codec has at this sample rate, with so many channels. */
function possibleKbps(codec: AudioCodec, kbps: number, sampleRateHz: number, channels: number): number {
  switch (codec) {
    case "mp2":
      return nearest(sampleRateHz < 32_000 ? LAYER_2_LOW : LAYER_2.filter((rate) => channels > 1 || rate <= 192), kbps);
    case "mp3":
      return Math.min(kbps, LAYER_3_MAX.find(([from]) => sampleRateHz >= from)?.[1] ?? kbps);
    case "amr-nb":
      return nearest(AMR_KBPS, kbps);
    case "opus":
      return Math.min(kbps, OPUS_MAX_PER_CHANNEL * channels);
    case "ac3":
      return Math.max(kbps, AC3_MIN_PER_CHANNEL * channels);
    case "vorbis": {
      const [, mono, min, max] = VORBIS.find(([from]) => sampleRateHz >= from) ?? [0, kbps, 0, kbps];
      return Math.max(channels === 1 ? mono : min * channels, Math.min(kbps, max * channels));
    }
    default:
      return kbps;
  }
}

const nearest = (values: readonly number[], wanted: number): number =>
  values.reduce((best, value) => (Math.abs(value - wanted) < Math.abs(best - wanted) ? value : best), Infinity);
