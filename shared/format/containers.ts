// Containers of formats (api-v2 §4): their names, supported codecs and media types.
import { AUDIO_CODECS, type AudioCodec, VIDEO_CODECS, type VideoCodec } from "./codecs.ts";

export const VIDEO_CONTAINERS = ["mp4", "webm", "mpegts", "mov", "mkv", "avi", "asf", "flv", "3gp", "ogv"] as const;
export const AUDIO_CONTAINERS = ["ogg", "mp3", "aac", "wav", "flac", "m4a", "opus"] as const;
export const IMAGE_CONTAINERS = ["jpg", "png", "webp", "gif", "webp_anim", "avif"] as const;
/** Files of text. */
export const TEXT_CONTAINERS = ["vtt", "srt"] as const;
/** Containers of tracks, as opposed to images. */
export const TRACK_CONTAINERS = [...VIDEO_CONTAINERS, ...AUDIO_CONTAINERS] as const;

export type TrackContainer = (typeof TRACK_CONTAINERS)[number];
export type ImageContainer = (typeof IMAGE_CONTAINERS)[number];
export type TextContainer = (typeof TEXT_CONTAINERS)[number];
export type Container = TrackContainer | ImageContainer | TextContainer;

const ALIASES = {
  divx: "avi",
  xvid: "avi",
  wmv: "asf",
  hls: "mpegts",
  flash: "flv",
  theora: "ogv",
  jpeg: "jpg",
} as const satisfies Record<string, Container>;

/** All names that a format may start with. */
export const CONTAINERS_BY_NAME: ReadonlyMap<string, Container> = new Map<string, Container>([
  ...[...TRACK_CONTAINERS, ...IMAGE_CONTAINERS, ...TEXT_CONTAINERS].map((name) => [name, name] as const),
  ...Object.entries(ALIASES),
]);

export type TrackContainerTraits = {
  /** Supported codecs, the default first. Empty for audio containers. */
  readonly video: readonly VideoCodec[];
  readonly audio: readonly [AudioCodec, ...AudioCodec[]];
  /** Default audio codec by video codec, if it is not the first codec. */
  readonly audioWithVideo?: Readonly<Partial<Record<VideoCodec, AudioCodec>>>;
  /** Default audio bitrate, if it differs from the codec's default. */
  readonly audioKbps?: number;
  /** Sample rates, if the container supports fewer than the codec. */
  readonly sampleRatesHz?: Readonly<Partial<Record<AudioCodec, readonly number[]>>>;
  /** True if the container supports fragments (ISO base media files). */
  readonly fragments: boolean;
  /** Media types of a file with video and of a file without video. */
  readonly mediaTypes: readonly [withVideo: string, audioOnly: string];
};

const same = (type: string): readonly [string, string] => [type, type];
const FLV_PCM_HZ = [11025, 22050, 44100];

/**
 * Codecs that each container supports. ffmpeg 7.0's muxer wrote each pair without `-strict` and read it back; tests
 * repeat this. Pairs are left out if ffmpeg's next release, the container's specification or common players do not
 * support them. These are: pcm in mp4 (only ffmpeg 6.1 and later), hevc, vp9 and av1 in flv (likewise), Ogg's and
 * Microsoft's codecs in mov, audio without constant packets in avi, A-law in flv.
 */
export const TRACK_CONTAINER_TRAITS: Readonly<Record<TrackContainer, TrackContainerTraits>> = {
  mp4: {
    video: ["h264", "hevc", "vp9", "av1", "mpeg4", "mpeg2video", "mjpeg"],
    audio: ["aac", "ac3", "mp2", "mp3", "vorbis", "opus", "flac"],
    sampleRatesHz: { mp3: [16000, 22050, 24000, 32000, 44100, 48000] },
    fragments: true,
    mediaTypes: ["video/mp4", "audio/mp4"],
  },
  webm: {
    video: ["vp8", "vp9", "av1"],
    audio: ["vorbis", "opus"],
    audioWithVideo: { vp9: "opus", av1: "opus" },
    fragments: false,
    mediaTypes: ["video/webm", "audio/webm"],
  },
  mpegts: {
    video: ["h264", "hevc", "mpeg4", "mpeg2video"],
    audio: ["aac", "ac3", "mp2", "mp3", "opus"],
    fragments: false,
    mediaTypes: same("video/mp2t"),
  },
  mov: {
    video: ["h264", "hevc", "mpeg4", "mpeg2video", "mjpeg", "prores", "prores-ks", "dnxhd", "h263"],
    audio: ["aac", "ac3", "mp2", "mp3", "pcm-s16le", "pcm-u8", "pcm-alaw", "amr-nb"],
    fragments: true,
    mediaTypes: same("video/quicktime"),
  },
  mkv: {
    video: VIDEO_CODECS,
    audio: AUDIO_CODECS,
    fragments: false,
    mediaTypes: ["video/x-matroska", "audio/x-matroska"],
  },
  avi: {
    video: ["mpeg4", "h264", "mpeg2video", "mjpeg", "vp8", "flv", "h263", "wmv2"],
    audio: ["mp3", "mp2", "ac3", "aac", "pcm-s16le", "pcm-u8", "pcm-alaw", "wmav2"],
    fragments: false,
    mediaTypes: same("video/x-msvideo"),
  },
  asf: {
    video: ["wmv2", "h264", "mpeg4", "mpeg2video", "mjpeg"],
    audio: ["wmav2", "mp3", "mp2", "ac3", "aac", "pcm-s16le", "pcm-u8", "pcm-alaw"],
    fragments: false,
    mediaTypes: ["video/x-ms-wmv", "audio/x-ms-wma"],
  },
  flv: {
    video: ["flv", "h264"],
    audio: ["mp3", "aac", "pcm-s16le", "pcm-u8"],
    sampleRatesHz: { mp3: [...FLV_PCM_HZ, 48000], "pcm-s16le": FLV_PCM_HZ, "pcm-u8": FLV_PCM_HZ },
    fragments: false,
    mediaTypes: same("video/x-flv"),
  },
  "3gp": {
    video: ["h263", "h264", "mpeg4"],
    audio: ["aac", "amr-nb"],
    audioKbps: 32,
    fragments: true,
    mediaTypes: ["video/3gpp", "audio/3gpp"],
  },
  ogv: { video: ["theora", "vp8"], audio: ["vorbis", "opus", "flac"], fragments: false, mediaTypes: same("video/ogg") },
  ogg: { video: [], audio: ["vorbis", "opus", "flac"], fragments: false, mediaTypes: same("audio/ogg") },
  mp3: { video: [], audio: ["mp3"], fragments: false, mediaTypes: same("audio/mpeg") },
  aac: { video: [], audio: ["aac"], fragments: false, mediaTypes: same("audio/aac") },
  wav: {
    video: [],
    audio: ["pcm-s16le", "pcm-u8", "pcm-alaw", "mp3", "mp2", "ac3"],
    fragments: false,
    mediaTypes: same("audio/wav"),
  },
  flac: { video: [], audio: ["flac"], fragments: false, mediaTypes: same("audio/flac") },
  m4a: { video: [], audio: ["aac", "ac3"], fragments: true, mediaTypes: same("audio/mp4") },
  opus: { video: [], audio: ["opus"], fragments: false, mediaTypes: same("audio/ogg") },
};

/** Codecs of text tracks by ffmpeg's names; containers that are left out cannot have text tracks. */
const TEXT_CODECS: Readonly<Partial<Record<TrackContainer, "mov_text" | "subrip" | "webvtt">>> = {
  mp4: "mov_text",
  mov: "mov_text",
  m4a: "mov_text",
  mkv: "subrip",
  webm: "webvtt",
};
export const TEXT_TRACK_CONTAINERS = Object.keys(TEXT_CODECS).join(", ");

/** The codec of the container's text tracks; null: it cannot have any. */
export const textCodecOf = (container: TrackContainer) => TEXT_CODECS[container] ?? null;

/** Containers that have several audio tracks, and players that offer them. */
const WITH_SEVERAL: ReadonlySet<TrackContainer> = new Set(["mp4", "mov", "mkv", "webm", "mpegts", "m4a"]);

/** The reason why the container has one audio track; null: it may have several. */
export const singleTrackReason = (container: TrackContainer): string | null =>
  WITH_SEVERAL.has(container) ? null : `${container} can hold one audio track`;

export type ImageContainerTraits = {
  readonly mediaType: string;
  readonly animated: boolean;
  readonly lossless: boolean;
};

/** `animated`: a single file that shows scenes of the source, as opposed to still images. */
export const IMAGE_CONTAINER_TRAITS: Readonly<Record<ImageContainer, ImageContainerTraits>> = {
  jpg: { mediaType: "image/jpeg", animated: false, lossless: false },
  png: { mediaType: "image/png", animated: false, lossless: true },
  webp: { mediaType: "image/webp", animated: false, lossless: false },
  gif: { mediaType: "image/gif", animated: true, lossless: false },
  webp_anim: { mediaType: "image/webp", animated: true, lossless: false },
  avif: { mediaType: "image/avif", animated: false, lossless: false },
};

export const TEXT_MEDIA_TYPES: Readonly<Record<TextContainer, string>> = {
  vtt: "text/vtt",
  srt: "application/x-subrip",
};

export const isTextContainer = (container: Container): container is TextContainer =>
  Object.hasOwn(TEXT_MEDIA_TYPES, container);

export const isImageContainer = (container: Container): container is ImageContainer =>
  Object.hasOwn(IMAGE_CONTAINER_TRAITS, container);
