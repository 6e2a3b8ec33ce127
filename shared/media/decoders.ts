// Decoders that ffmpeg and ffprobe may use. An allowlist, because AVI, MOV and Matroska support about 500 codecs.

/**
 * Names of decoders, not of codecs; `docs/decoders.md` gives the reasons. For a codec with several decoders, the list
 * has every decoder that some build tries first (`mp3float`, `libdav1d`): ffmpeg tries no other decoder if the first is
 * not allowed. ffmpeg ignores names that a build does not have. It uses hardware decoders (`h264_cuvid`) only by name,
 * and no plan names them.
 */
const VIDEO_DECODERS = {
  delivery: "h264 hevc vp8 libvpx vp9 libvpx-vp9 av1 libdav1d libaom-av1 mpeg1video mpeg2video mpeg4 theora",
  production: "prores dnxhd ffv1 ffvhuff huffyuv utvideo rawvideo v210 dvvideo mjpeg qtrle",
  older: "msmpeg4v1 msmpeg4v2 msmpeg4 wmv1 wmv2 wmv3 vc1 h263 h263i h263p flv flashsv vp6 vp6a vp6f cinepak svq1 svq3",
} as const;

const AUDIO_DECODERS = {
  delivery: "aac aac_latm mp3float mp3 opus libopus vorbis libvorbis flac alac ac3 eac3",
  production: "dca truehd mlp mp1float mp1 mp2float mp2 s302m tta wavpack",
  older:
    "amrnb libopencore_amrnb amrwb libopencore_amrwb wmav1 wmav2 wmapro wmalossless wmavoice speex libspeex nellymoser " +
    "qdm2 qcelp evrc gsm libgsm gsm_ms libgsm_ms g726 adpcm_ms adpcm_ima_wav adpcm_ima_qt adpcm_swf adpcm_yamaha",
  pcm:
    "pcm_alaw pcm_mulaw pcm_bluray pcm_dvd pcm_f32be pcm_f32le pcm_f64be pcm_f64le pcm_s8 pcm_s8_planar pcm_u8 " +
    "pcm_s16be pcm_s16be_planar pcm_s16le pcm_s16le_planar pcm_u16be pcm_u16le pcm_s24be pcm_s24le pcm_s24le_planar " +
    "pcm_s24daud pcm_u24be pcm_u24le pcm_s32be pcm_s32le pcm_s32le_planar pcm_u32be pcm_u32le pcm_s64be pcm_s64le",
} as const;

/**
 * Outputs read text only. But ffprobe opens a decoder for each stream that it describes, and exits if that decoder is
 * not allowed.
 */
const SUBTITLE_DECODERS =
  "ass ssa subrip srt mov_text text webvtt dvbsub dvdsub pgssub xsub cc_dec " +
  "libzvbi_teletextdec libaribb24 libaribcaption";

const IMAGE_NAMES = "png apng gif webp mjpeg bmp tiff";

const list = (...names: readonly string[]): string => [...new Set(names.join(" ").split(" "))].join(",");

/** Value of `-codec_whitelist`, which precedes every input, with `-format_whitelist`. */
export const ALLOWED_DECODERS: string = list(
  ...Object.values(VIDEO_DECODERS),
  IMAGE_NAMES,
  ...Object.values(AUDIO_DECODERS),
  SUBTITLE_DECODERS,
);

/** Decoders of images, for watermarks. */
export const IMAGE_DECODERS: string = list(IMAGE_NAMES);

/** Matches libavcodec's message (avcodec.c) for a decoder that is not allowed, and captures the decoder's name. */
export const DISALLOWED_DECODER = /Codec \(([\w.-]+)\) not on whitelist/;

/** Returns a sentence for clients about an input whose decoder is not allowed. */
export const disallowedDecoderMessage = (decoder: string): string =>
  `The input uses the codec ${decoder}, which is not supported; convert it to a common codec such as H.264, ProRes, ` +
  "AAC or PCM, or remove the stream.";
