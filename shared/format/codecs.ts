// Codecs of formats (api-v2 §4) and the features of their encoders.

export const VIDEO_CODECS = [
  "h264",
  "hevc",
  "vp8",
  "vp9",
  "av1",
  "theora",
  "mpeg4",
  "mpeg2video",
  "mjpeg",
  "prores",
  "prores-ks",
  "dnxhd",
  "flv",
  "h263",
  "wmv2",
] as const;
export type VideoCodec = (typeof VIDEO_CODECS)[number];

export const AUDIO_CODECS = [
  "aac",
  "ac3",
  "mp2",
  "mp3",
  "vorbis",
  "opus",
  "flac",
  "pcm-s16le",
  "pcm-u8",
  "pcm-alaw",
  "amr-nb",
  "wmav2",
] as const;
export type AudioCodec = (typeof AUDIO_CODECS)[number];

/** Codecs of a track, and `copy`: the source's stream without encoding. */
export const VIDEO_CHOICES = [...VIDEO_CODECS, "copy"] as const;
export const AUDIO_CHOICES = [...AUDIO_CODECS, "copy"] as const;

export const PIXEL_FORMATS = ["yuv420p", "yuv422p", "yuva444p10le", "yuv420p10le"] as const;
export type PixelFormat = (typeof PIXEL_FORMATS)[number];

/** Profiles of H.264 by their names in formats; HEVC also has `main`. */
export const PROFILES = ["baseline", "main", "high", "high10", "high422", "high444"] as const;
export type Profile = (typeof PROFILES)[number];

/** Ways to set the bitrate of video. All encoders also support `quality`: as a constant quality or as a profile. */
type RateSpec = "video_bitrate" | "maxrate" | "2pass";

export type VideoTraits = {
  /** Supported pixel formats. The default is 4:2:0 in 8 bits, or 4:2:2 for codecs without 4:2:0. */
  readonly pixelFormats: readonly PixelFormat[];
  readonly rates: readonly RateSpec[];
  /** The pixel formats that each profile supports. */
  readonly profiles: Readonly<Partial<Record<Profile, readonly PixelFormat[]>>>;
  /** Ten times the level number, as in formats. */
  readonly levels: readonly number[];
};

/** Codecs whose encoders have a rate factor. Copra can search the rate factor for a VMAF. */
export const VMAF_CODECS = ["h264", "hevc", "vp9", "av1"] as const satisfies VideoCodec[];
export const isVmafCodec = (codec: string): codec is (typeof VMAF_CODECS)[number] =>
  VMAF_CODECS.some((name) => name === codec);

const ALL_RATES = ["video_bitrate", "maxrate", "2pass"] as const;
const plain = { pixelFormats: ["yuv420p"], rates: ALL_RATES, profiles: {}, levels: [] } as const satisfies VideoTraits;

/**
 * Pixel formats, profiles, levels and two-pass support of the encoders in ffmpeg 7.0: libx264, libx265, libvpx,
 * SVT-AV1, libaom for AV1 in two passes, libtheora, and ffmpeg's own. Each was tried. The profile of ProRes determines
 * its bitrate. DNxHD accepts a bitrate, which selects a fixed bitrate, but no maximum and no second pass.
 */
export const VIDEO_TRAITS: Readonly<Record<VideoCodec, VideoTraits>> = {
  h264: {
    pixelFormats: ["yuv420p", "yuv422p", "yuv420p10le"],
    rates: ALL_RATES,
    profiles: {
      baseline: ["yuv420p"],
      main: ["yuv420p"],
      high: ["yuv420p"],
      high10: ["yuv420p", "yuv420p10le"],
      high422: ["yuv420p", "yuv420p10le", "yuv422p"],
      high444: ["yuv420p", "yuv420p10le", "yuv422p"],
    },
    levels: [10, 11, 12, 13, 20, 21, 22, 30, 31, 32, 40, 41, 42, 50, 51],
  },
  hevc: {
    pixelFormats: ["yuv420p", "yuv422p", "yuv420p10le"],
    rates: ALL_RATES,
    profiles: { main: ["yuv420p"] },
    levels: [10, 20, 21, 30, 31, 40, 41, 50, 51],
  },
  vp8: plain,
  vp9: { ...plain, pixelFormats: ["yuv420p", "yuv422p", "yuv420p10le"] },
  av1: { ...plain, pixelFormats: ["yuv420p", "yuv420p10le"] },
  theora: { ...plain, pixelFormats: ["yuv420p", "yuv422p"], rates: ["video_bitrate", "2pass"] },
  mpeg4: plain,
  mpeg2video: { ...plain, pixelFormats: ["yuv420p", "yuv422p"] },
  mjpeg: { ...plain, pixelFormats: ["yuv420p", "yuv422p"] },
  prores: { ...plain, pixelFormats: ["yuva444p10le"], rates: [] },
  "prores-ks": { ...plain, pixelFormats: ["yuva444p10le"], rates: [] },
  dnxhd: { ...plain, pixelFormats: ["yuv422p"], rates: ["video_bitrate"] },
  flv: plain,
  h263: plain,
  wmv2: plain,
};

export type AudioTraits = {
  /** Null for lossless codecs, which have no bitrate. */
  readonly kbps: {
    readonly default: number;
    readonly min: number;
    readonly max: number;
    /** Supported bitrates, if the codec does not support all from `min` to `max`. */
    readonly steps?: readonly number[];
  } | null;
  readonly sampleRatesHz: readonly number[];
  readonly maxChannels: number;
};

export const CHANNELS = ["mono", "stereo", "multi"] as const;

export const SAMPLE_RATES_HZ = [8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000] as const;
/** Bitrates of MPEG-1 and MPEG-2 layer 2 (ISO 11172-3, 13818-3). */
const LAYER_2_KBPS = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 192, 224, 256, 320, 384];

const lossy = { kbps: { default: 128, min: 8, max: 512 }, sampleRatesHz: SAMPLE_RATES_HZ, maxChannels: 8 };
const lossless = { kbps: null, sampleRatesHz: SAMPLE_RATES_HZ, maxChannels: 8 };

/**
 * Features of the audio encoders in ffmpeg 7.0 (libmp3lame, libvorbis, libopus, OpenCORE AMR, and ffmpeg's own). Each
 * was tried.
 */
export const AUDIO_TRAITS: Readonly<Record<AudioCodec, AudioTraits>> = {
  aac: lossy,
  ac3: { ...lossy, kbps: { ...lossy.kbps, min: 32 }, sampleRatesHz: [32000, 44100, 48000] },
  mp2: {
    kbps: { ...lossy.kbps, max: 384, steps: LAYER_2_KBPS },
    sampleRatesHz: SAMPLE_RATES_HZ.filter((hz) => hz >= 16000),
    maxChannels: 2,
  },
  mp3: { ...lossy, kbps: { ...lossy.kbps, max: 320 }, maxChannels: 2 },
  vorbis: { ...lossy, kbps: { ...lossy.kbps, max: 500 } },
  opus: { ...lossy, sampleRatesHz: [8000, 16000, 24000, 48000] },
  flac: lossless,
  "pcm-s16le": lossless,
  "pcm-u8": lossless,
  "pcm-alaw": lossless,
  "amr-nb": { kbps: { default: 12, min: 5, max: 12 }, sampleRatesHz: [8000], maxChannels: 1 },
  wmav2: { ...lossy, kbps: { ...lossy.kbps, min: 24 }, maxChannels: 2 },
};
