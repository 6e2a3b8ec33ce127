// Resolves the audio of a format: its codec and the specs that the codec's encoder supports.

import { AUDIO_TRAITS, type AudioCodec } from "./codecs.ts";
import { TRACK_CONTAINER_TRAITS, type TrackContainer } from "./containers.ts";
import type { AudioTrackSpec, VideoTrackSpec } from "./format-spec.ts";
import { readAudioBitrate, readAudioCodec, readChannels, readSampleRate } from "./grammar/read-specs.ts";
import { AUDIO_SPECS, FormatError, type RequestedSpecs, read, rejectSpecs } from "./grammar/requested-specs.ts";

/** Returns the audio of a format with this video codec; null if there is none. Throws FormatError. */
export function resolveAudio(
  container: TrackContainer,
  videoCodec: VideoTrackSpec["codec"] | null,
  requested: RequestedSpecs,
): AudioTrackSpec | null {
  const codec = audioCodec(container, videoCodec, requested);
  if (codec === null) {
    rejectSpecs(requested, ENCODING_SPECS, "this format has no audio");
    return null;
  }
  if (codec === "copy") {
    rejectSpecs(requested, ENCODING_SPECS, "`copy` does not encode the audio");
    return { codec, bitrateKbps: null, sampleRateHz: null, channels: null };
  }
  return {
    codec,
    bitrateKbps: bitrate(container, codec, requested),
    sampleRateHz: sampleRate(container, codec, requested),
    channels: channels(codec, requested),
  };
}

const ENCODING_SPECS = AUDIO_SPECS.filter((spec) => spec !== "audio_codec");
const NEEDED_CHANNELS = { mono: 1, stereo: 2, multi: 3 } as const;

/** Returns the default audio codec of a format. */
export function defaultAudioCodec(container: TrackContainer, videoCodec: VideoTrackSpec["codec"] | null): AudioCodec {
  const { audio, audioWithVideo = {} } = TRACK_CONTAINER_TRAITS[container];
  const special = videoCodec === null || videoCodec === "copy" ? undefined : audioWithVideo[videoCodec];
  return special ?? audio[0];
}

/** Returns the default bitrate in kbit/s; null for lossless codecs. */
export function defaultAudioKbps(container: TrackContainer, codec: AudioCodec): number | null {
  const { audioKbps } = TRACK_CONTAINER_TRAITS[container];
  const ofCodec = AUDIO_TRAITS[codec].kbps?.default ?? null;
  return ofCodec === null ? null : Math.min(ofCodec, audioKbps ?? ofCodec);
}

/** Returns the sample rates that the codec supports in this container. */
export function sampleRates(container: TrackContainer, codec: AudioCodec): readonly number[] {
  return TRACK_CONTAINER_TRAITS[container].sampleRatesHz?.[codec] ?? AUDIO_TRAITS[codec].sampleRatesHz;
}

function audioCodec(
  container: TrackContainer,
  videoCodec: VideoTrackSpec["codec"] | null,
  requested: RequestedSpecs,
): AudioCodec | "copy" | null {
  const { audio } = TRACK_CONTAINER_TRAITS[container];
  const codec = read(requested, "audio_codec", readAudioCodec);
  if (codec === undefined) return defaultAudioCodec(container, videoCodec);
  if (codec === null || codec === "copy" || audio.includes(codec)) return codec;
  const allowed = `${audio.join(", ")}, copy`;
  throw new FormatError(
    "audio_codec",
    `${container} does not support the audio codec \`${codec}\`; allowed: ${allowed}`,
  );
}

function bitrate(container: TrackContainer, codec: AudioCodec, requested: RequestedSpecs): number | null {
  const { kbps } = AUDIO_TRAITS[codec];
  if (kbps === null) rejectSpecs(requested, ["audio_bitrate"], `${codec} is lossless and has no bitrate`);
  const value = read(requested, "audio_bitrate", readAudioBitrate);
  if (value === undefined || kbps === null) return defaultAudioKbps(container, codec);
  const { min, max, steps } = kbps;
  if (steps ? steps.includes(value) : value >= min && value <= max) return value;
  const allowed = steps ? steps.map((step) => `${step}k`).join(", ") : `${min}k to ${max}k`;
  throw new FormatError(
    "audio_bitrate",
    `The bitrate \`${value}k\` is not possible with ${codec}; allowed: ${allowed}`,
  );
}

function sampleRate(container: TrackContainer, codec: AudioCodec, requested: RequestedSpecs): number | null {
  const value = read(requested, "sample_rate", readSampleRate);
  const allowed = sampleRates(container, codec);
  if (value === undefined || allowed.includes(value)) return value ?? null;
  const rates = allowed.map((hz) => `${hz}hz`).join(", ");
  throw new FormatError("sample_rate", `${codec} in ${container} cannot have \`${value}hz\`; allowed: ${rates}`);
}

function channels(codec: AudioCodec, requested: RequestedSpecs): AudioTrackSpec["channels"] {
  const value = read(requested, "audio_channel", readChannels) ?? null;
  const { maxChannels } = AUDIO_TRAITS[codec];
  if (value === null || NEEDED_CHANNELS[value] <= maxChannels) return value;
  const most = maxChannels === 1 ? "mono" : "stereo";
  throw new FormatError("audio_channel", `${codec} cannot have \`${value}\` channels; at most ${most} is possible`);
}
