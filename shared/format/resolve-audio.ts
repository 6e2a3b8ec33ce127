// The sound of a format: its codec, and whether the codec's encoder can do what was asked of it.
import { type AskedSpecs, FormatError, read, refuseSpecs, SOUND_SPECS } from "./asked-specs.ts";
import { AUDIO_TRAITS, type AudioCodec } from "./codecs.ts";
import { TRACK_CONTAINER_TRAITS, type TrackContainer } from "./containers.ts";
import type { AudioTrackSpec, VideoTrackSpec } from "./format-spec.ts";
import { readAudioBitrate, readAudioCodec, readChannels, readSampleRate } from "./read-specs.ts";

/** The sound of a format beside this picture; null when there is none. Throws FormatError. */
export function resolveAudio(
  container: TrackContainer,
  beside: VideoTrackSpec["codec"] | null,
  asked: AskedSpecs,
): AudioTrackSpec | null {
  const codec = audioCodec(container, beside, asked);
  if (codec === null) {
    refuseSpecs(asked, ENCODING_SPECS, "this format has no sound");
    return null;
  }
  if (codec === "copy") {
    refuseSpecs(asked, ENCODING_SPECS, "`copy` takes the sound as it is");
    return { codec, bitrateKbps: null, sampleRateHz: null, channels: null };
  }
  return {
    codec,
    bitrateKbps: bitrate(container, codec, asked),
    sampleRateHz: sampleRate(container, codec, asked),
    channels: channels(codec, asked),
  };
}

const ENCODING_SPECS = SOUND_SPECS.filter((spec) => spec !== "audio_codec");
const NEEDED_CHANNELS = { mono: 1, stereo: 2, multi: 3 } as const;

/** The codec of a format's sound when none is asked for. */
export function defaultAudioCodec(container: TrackContainer, beside: VideoTrackSpec["codec"] | null): AudioCodec {
  const { audio, audioBeside = {} } = TRACK_CONTAINER_TRAITS[container];
  const special = beside === null || beside === "copy" ? undefined : audioBeside[beside];
  return special ?? audio[0];
}

/** The bitrate in kbit/s when none is asked for; null for codecs that have none. */
export function defaultAudioKbps(container: TrackContainer, codec: AudioCodec): number | null {
  const { audioKbps } = TRACK_CONTAINER_TRAITS[container];
  const own = AUDIO_TRAITS[codec].kbps?.default ?? null;
  return own === null ? null : Math.min(own, audioKbps ?? own);
}

/** Sample rates that the codec has in this container. */
export function sampleRates(container: TrackContainer, codec: AudioCodec): readonly number[] {
  return TRACK_CONTAINER_TRAITS[container].sampleRatesHz?.[codec] ?? AUDIO_TRAITS[codec].sampleRatesHz;
}

function audioCodec(
  container: TrackContainer,
  beside: VideoTrackSpec["codec"] | null,
  asked: AskedSpecs,
): AudioCodec | "copy" | null {
  const { audio } = TRACK_CONTAINER_TRAITS[container];
  const codec = read(asked, "audio_codec", readAudioCodec);
  if (codec === undefined) return defaultAudioCodec(container, beside);
  if (codec === null || codec === "copy" || audio.includes(codec)) return codec;
  const holds = `${audio.join(", ")}, copy`;
  throw new FormatError("audio_codec", `${container} cannot hold the audio codec \`${codec}\`; it holds: ${holds}`);
}

function bitrate(container: TrackContainer, codec: AudioCodec, asked: AskedSpecs): number | null {
  const { kbps } = AUDIO_TRAITS[codec];
  if (kbps === null)
    refuseSpecs(asked, ["audio_bitrate"], `${codec} keeps every sample, so it has no bitrate to choose`);
  const value = read(asked, "audio_bitrate", readAudioBitrate);
  if (value === undefined || kbps === null) return defaultAudioKbps(container, codec);
  const { min, max, steps } = kbps;
  if (steps ? steps.includes(value) : value >= min && value <= max) return value;
  const allowed = steps ? steps.map((step) => `${step}k`).join(", ") : `${min}k to ${max}k`;
  throw new FormatError(
    "audio_bitrate",
    `The bitrate \`${value}k\` is not possible with ${codec}; allowed: ${allowed}`,
  );
}

function sampleRate(container: TrackContainer, codec: AudioCodec, asked: AskedSpecs): number | null {
  const value = read(asked, "sample_rate", readSampleRate);
  const allowed = sampleRates(container, codec);
  if (value === undefined || allowed.includes(value)) return value ?? null;
  const rates = allowed.map((hz) => `${hz}hz`).join(", ");
  throw new FormatError("sample_rate", `${codec} in ${container} cannot have \`${value}hz\`; allowed: ${rates}`);
}

function channels(codec: AudioCodec, asked: AskedSpecs): AudioTrackSpec["channels"] {
  const value = read(asked, "audio_channel", readChannels) ?? null;
  const { maxChannels } = AUDIO_TRAITS[codec];
  if (value === null || NEEDED_CHANNELS[value] <= maxChannels) return value;
  const most = maxChannels === 1 ? "mono" : "stereo";
  throw new FormatError("audio_channel", `${codec} cannot have \`${value}\` channels; at most ${most} is possible`);
}
