// Formats for property tests: text that clients might send, and complete valid formats.
import fc from "fast-check";
import {
  AUDIO_CHOICES,
  AUDIO_TRAITS,
  CHANNELS,
  PIXEL_FORMATS,
  PROFILES,
  SAMPLE_RATES_HZ,
  VIDEO_CHOICES,
  VIDEO_TRAITS,
  type VideoCodec,
} from "../format/codecs.ts";
import {
  CONTAINERS_BY_NAME,
  IMAGE_CONTAINER_TRAITS,
  IMAGE_CONTAINERS,
  TRACK_CONTAINER_TRAITS,
  TRACK_CONTAINERS,
} from "../format/containers.ts";
import type { AudioTrackSpec, ImageFormat, RateTarget, VideoFormat, VideoTrackSpec } from "../format/format-spec.ts";
import { OPTIONS } from "../format/grammar/requested-specs.ts";
import {
  FRAME_RATES,
  MAX_SIDE,
  MAX_VIDEO_KBPS,
  MAX_VMAF,
  MIN_VIDEO_KBPS,
  MIN_VMAF,
  PRESETS,
} from "../format/presets.ts";
import { sampleRates } from "../format/resolve-audio.ts";

// ── Text in the format grammar, often contradictory ─────────────────────────────────────────────────────────────────

const kbps = (max: number): fc.Arbitrary<string> => fc.integer({ min: 0, max }).map((n) => `${n}k`);
const videoTokens = fc.oneof(
  fc.constantFrom("640x360", "0x0", "2x", "x2", "9000x1", ...PRESETS.keys()),
  kbps(210_000),
  fc.constantFrom(...FRAME_RATES.keys()).map((rate) => `${rate}fps`),
  fc.constantFrom(...VIDEO_CHOICES, "prores_ks", "novideo"),
);
const audioTokens = fc.oneof(
  kbps(600),
  fc.constantFrom(...SAMPLE_RATES_HZ).map((rate) => `${rate}hz`),
  fc.constantFrom(...AUDIO_CHOICES, ...CHANNELS, "pcm", "pcm_u8", "amr_nb", "noaudio"),
);
const optionTokens = fc.oneof(
  fc.constantFrom("2pass", "frag", "metadata=0", "quality=3", "quality=vmaf93", "maxrate=900k", "pix_fmt=yuv420p"),
  fc
    .tuple(fc.constantFrom(...OPTIONS), fc.constantFrom("1", "7", "41", "90k", ...PIXEL_FORMATS, ...PROFILES))
    .map((pair) => pair.join("=")),
);
const segment = (token: fc.Arbitrary<string>, ...joints: string[]): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom("", "x", "junk") },
    {
      weight: 6,
      arbitrary: fc
        .array(fc.tuple(token, fc.constantFrom(...joints)), { maxLength: 3 })
        .map((all) => all.flat().join("")),
    },
  );

export const formatTexts: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(...CONTAINERS_BY_NAME.keys()),
    segment(videoTokens, "_"),
    segment(audioTokens, "_"),
    segment(optionTokens, "_", ","),
    fc.integer({ min: 1, max: 4 }),
  )
  .map(([name, video, audio, options, length]) => {
    const audioOnly = TRACK_CONTAINERS.some(
      (known) => known === name && TRACK_CONTAINER_TRAITS[known].video.length === 0,
    );
    return [name, ...(audioOnly ? [] : [video]), audio, options].slice(0, length).join(":");
  });

// ── Valid formats ─────────────────────────────────────────────────────────────────────────────────────────

const maybe = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> => fc.option(value, { freq: 2 });
const among = <Value>(values: readonly Value[]): fc.Arbitrary<Value> => fc.constantFrom(...values);
const size = fc.record({
  width: maybe(fc.integer({ min: 1, max: MAX_SIDE })),
  height: maybe(fc.integer({ min: 1, max: MAX_SIDE })),
});

function rateOf(codec: VideoCodec): fc.Arbitrary<{ rate: RateTarget; twoPass: boolean }> {
  const { rates } = VIDEO_TRAITS[codec];
  const upTo = (max: number): fc.Arbitrary<number | null> => maybe(fc.integer({ min: MIN_VIDEO_KBPS, max }));
  const maxrateKbps = rates.includes("maxrate") ? upTo(MAX_VIDEO_KBPS) : fc.constant(null);
  const mean = maxrateKbps.chain((cap) =>
    fc.record({
      rate: fc.record({
        bitrateKbps: rates.includes("video_bitrate") ? upTo(cap ?? MAX_VIDEO_KBPS) : fc.constant(null),
        maxrateKbps: fc.constant(cap),
      }),
      twoPass: rates.includes("2pass") ? fc.boolean() : fc.constant(false),
    }),
  );
  const step = fc.record({ quality: fc.integer({ min: 1, max: 5 }), maxrateKbps });
  const hasVmaf = ["h264", "hevc", "vp9", "av1"].includes(codec);
  const vmaf = fc.record({
    vmaf: fc.integer({ min: MIN_VMAF, max: MAX_VMAF }),
    maxrateKbps,
    rateFactor: fc.constant(null),
  });
  return fc.oneof(mean, fc.record({ rate: hasVmaf ? fc.oneof(step, vmaf) : step, twoPass: fc.constant(false) }));
}

function videoOf(codec: VideoCodec): fc.Arbitrary<VideoTrackSpec> {
  const { pixelFormats, profiles, levels } = VIDEO_TRAITS[codec];
  return maybe(among(pixelFormats)).chain((pixelFormat) => {
    const fitting = PROFILES.filter((profile) => profiles[profile]?.includes(pixelFormat ?? "yuv420p"));
    return fc
      .record({
        size,
        fps: among([...FRAME_RATES.values()]),
        profile: fitting.length > 0 ? maybe(among(fitting)) : fc.constant(null),
        level: levels.length > 0 ? maybe(among(levels)) : fc.constant(null),
        more: rateOf(codec),
      })
      .map(({ more, ...track }) => ({ codec, pixelFormat, ...track, ...more }));
  });
}

const COPIED_VIDEO: VideoTrackSpec = {
  codec: "copy",
  size: { width: null, height: null },
  rate: { bitrateKbps: null, maxrateKbps: null },
  fps: null,
  pixelFormat: null,
  profile: null,
  level: null,
  twoPass: false,
};
const COPIED_AUDIO: AudioTrackSpec = { codec: "copy", bitrateKbps: null, sampleRateHz: null, channels: null };

function audioOf(container: VideoFormat["container"]): fc.Arbitrary<AudioTrackSpec> {
  return among(TRACK_CONTAINER_TRAITS[container].audio).chain((codec) => {
    const { kbps, maxChannels } = AUDIO_TRAITS[codec];
    return fc.record<AudioTrackSpec>({
      codec: fc.constant(codec),
      bitrateKbps: !kbps ? fc.constant(null) : kbps.steps ? among(kbps.steps) : fc.integer(kbps),
      sampleRateHz: maybe(among(sampleRates(container, codec))),
      channels: maybe(among(CHANNELS.slice(0, maxChannels))),
    });
  });
}

function tracksOf(container: VideoFormat["container"]): fc.Arbitrary<VideoFormat> {
  const { video, fragments } = TRACK_CONTAINER_TRAITS[container];
  const videoTracks = fc.oneof(
    among(video.length > 0 ? video : (["h264"] as const)).chain(videoOf),
    fc.constant(COPIED_VIDEO),
  );
  return fc
    .record({
      type: fc.constant("video" as const),
      container: fc.constant(container),
      video: video.length > 0 ? maybe(videoTracks) : fc.constant(null),
      audio: maybe(fc.oneof({ weight: 5, arbitrary: audioOf(container) }, fc.constant(COPIED_AUDIO))),
      keepsMetadata: fc.boolean(),
      fragmented: fragments ? fc.boolean() : fc.constant(false),
    })
    .filter((format) => format.video !== null || format.audio !== null);
}

export const formatSpecs: fc.Arbitrary<VideoFormat | ImageFormat> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc
      .record({
        type: fc.constant("image" as const),
        container: among(IMAGE_CONTAINERS),
        size,
        quality: fc.integer({ min: 1, max: 5 }),
      })
      .map(({ quality, ...format }) =>
        quality === 5 || IMAGE_CONTAINER_TRAITS[format.container].lossless ? format : { ...format, quality },
      ),
  },
  { weight: 9, arbitrary: among(TRACK_CONTAINERS).chain(tracksOf) },
);
