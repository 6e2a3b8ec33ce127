// The options of each audio encoder: the nearest supported bitrate, sample rate and channel layout.
import type { AudioCodec } from "../../format/codecs.ts";
import type { TrackContainer } from "../../format/containers.ts";
import type { AudioTrackSpec } from "../../format/format-spec.ts";
import { sampleRates } from "../../format/resolve-audio.ts";
import type { LoudnessSpec } from "../../job/loudness.ts";
import { channelsOf, layoutFor, type SpeakerLayout, sourceLayout } from "../source/channel-layouts.ts";
import type { AudioTrack } from "../source/source-tracks.ts";
import { audioFilters, type Gaps, gapsIn } from "./audio-filters.ts";
import type { AudioEncoder } from "./choose-encoder.ts";

/** An audio track that is encoded, not copied. */
export type EncodedAudio = AudioTrackSpec & { readonly codec: AudioCodec };

/** The audio to encode, and its container. */
export type AudioEncodeOptions = {
  readonly spec: EncodedAudio;
  readonly container: TrackContainer;
  readonly track: AudioTrack;
  /** Handling of gaps; by default as the container needs. */
  readonly gaps?: Gaps;
  /** Start of reading in the source, in ms; 0 if left out. */
  readonly seekMs?: number;
  /** With the gains that were found; without them nothing changes. */
  readonly loudness?: LoudnessSpec | undefined;
};

/** ffmpeg's options for the audio, from filters to bitrate. */
export function audioArguments(encoder: AudioEncoder, options: AudioEncodeOptions): string[] {
  const { spec, container, track, gaps = gapsIn(container, options.spec.codec), seekMs = 0, loudness } = options;
  const layout = outputLayout(spec, container, track);
  const sampleRateHz = spec.sampleRateHz ?? nearestRate(sampleRates(container, spec.codec), track.sampleRateHz);
  const measured = loudness?.gains?.find((gain) => gain.layout === layout);
  const gain = measured && { ...measured, sampleRateHz: sampleRateHz ?? track.sampleRateHz ?? DEFAULT_RATE_HZ };
  const filters = audioFilters(layout, track, { gaps, seekMs, gain });
  return [
    ...["-c:a", encoder],
    ...(filters === "" ? [] : ["-af", filters]),
    ...bitrateArguments(spec, sampleRateHz ?? track.sampleRateHz ?? DEFAULT_RATE_HZ, channelsOf(layout)),
    ...(sampleRateHz === null ? [] : ["-ar", String(sampleRateHz)]),
  ];
}

/**
 * The loudness of an output's track, with only its own gains. `track`: its number in the output; null: the output has
 * no list of tracks.
 */
export const loudnessOf = (loudness: LoudnessSpec | undefined, track: number | null): LoudnessSpec | undefined =>
  loudness?.gains && track !== null
    ? { ...loudness, gains: loudness.gains.filter((gain) => gain.track === track) }
    : loudness;

/** Assumed if neither the request nor the source states a sample rate. */
export const DEFAULT_RATE_HZ = 48_000;

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
 * Layouts of each encoder, as its format defines them. AAC has the channel configurations of ISO 14496-3 table 1.19.
 * ffmpeg writes all other layouts, such as 5.1(side), with a program config element, which browsers cannot decode.
 * Vorbis, Opus and FLAC have the same layouts; libopus rejects 5.1(side).
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

/** flv states only whether audio is stereo. Phones that play 3gp have at most two channels (3GPP TS 26.234). */
const LAYOUTS_IN: Readonly<Partial<Record<TrackContainer, Partial<Record<AudioCodec, readonly SpeakerLayout[]>>>>> = {
  flv: { "pcm-s16le": STEREO, "pcm-u8": STEREO },
  "3gp": { aac: STEREO },
};

/**
 * Returns the output's layout. By default, and with `multi`, it has all channels of the source that the codec supports.
 * More than eight channels become two.
 */
export function outputLayout(
  { codec, channels }: EncodedAudio,
  container: TrackContainer,
  track: AudioTrack,
): SpeakerLayout {
  if (channels === "mono") return "mono";
  const source = sourceLayout(track.layout, track.channels);
  const wanted = channels === "stereo" ? "stereo" : (source ?? "stereo");
  return layoutFor(wanted, LAYOUTS_IN[container]?.[codec] ?? LAYOUTS[codec]);
}

/**
 * Returns the next higher rate, so that nothing is lost. Null if the rates include the source's rate, or if that rate
 * is unknown.
 */
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
/** Maximum of layer 3, by the lowest sample rate of each version (ISO 11172-3, 13818-3, "MPEG 2.5"). */
const LAYER_3_MAX: readonly (readonly [fromHz: number, kbps: number])[] = [
  [32_000, 320],
  [16_000, 160],
  [0, 64],
];
/** Modes of AMR narrowband (3GPP TS 26.071). */
const AMR_KBPS = [4.75, 5.15, 5.9, 6.7, 7.4, 7.95, 10.2, 12.2];
/** libopus rejects a higher bitrate per channel. */
const OPUS_MAX_PER_CHANNEL = 256;
/** Minimum of ffmpeg's ac3 encoder per channel, measured with six channels. */
const AC3_MIN_PER_CHANNEL = 11;
/**
 * libvorbis, by the lowest sample rate: minimum for mono, and minimum and maximum per channel, in kbit/s (each tried).
 */
const VORBIS: readonly (readonly [fromHz: number, mono: number, min: number, max: number])[] = [
  [44_100, 32, 24, 224],
  [32_000, 32, 32, 160],
  [22_050, 16, 16, 80],
  [16_000, 16, 16, 83],
  [11_025, 16, 14, 42],
  [0, 8, 8, 32],
];

/** The nearest bitrate that the codec supports at this sample rate and number of channels. */
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
