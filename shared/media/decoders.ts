// Which decoders ffmpeg and ffprobe may use: a list, because containers such as AVI, MOV and Matroska carry any of some 500.

/**
 * By ffmpeg's names of decoders, not of codecs; `docs/decoders.md` says why each is here and others are not. A codec that has
 * several decoders is listed with all that some build tries first (`mp3float`, `libdav1d`): ffmpeg tries no other when the
 * first is refused. Names that a build lacks match nothing. Decoders of hardware (`h264_cuvid`) are chosen by name only,
 * which no plan does.
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
 * Never given a packet: no output takes a source's subtitles. But ffprobe opens a decoder for each stream that it describes,
 * and ends when it may not.
 */
const SUBTITLE_DECODERS =
  "ass ssa subrip srt mov_text text webvtt dvbsub dvdsub pgssub xsub cc_dec " +
  "libzvbi_teletextdec libaribb24 libaribcaption";

const PICTURE_NAMES = "png apng gif webp mjpeg bmp tiff";

const list = (...names: readonly string[]): string => [...new Set(names.join(" ").split(" "))].join(",");

/** Value of `-codec_whitelist`, to be given before every input together with `-format_whitelist`. */
export const ALLOWED_DECODERS: string = list(
  ...Object.values(VIDEO_DECODERS),
  PICTURE_NAMES,
  ...Object.values(AUDIO_DECODERS),
  SUBTITLE_DECODERS,
);

/** Of single pictures: those that a watermark may come in. */
export const PICTURE_DECODERS: string = list(PICTURE_NAMES);

/** Of the SubRip that the node itself has written. */
export const SUBRIP_DECODERS = "subrip,srt";

/** What libavcodec writes (avcodec.c) when an input needs a decoder that is not listed; its name is captured. */
export const REFUSED_DECODER = /Codec \(([\w.-]+)\) not on whitelist/;

/** One sentence for clients about an input with a decoder that is not listed. */
export const refusedDecoderMessage = (decoder: string): string =>
  `The input uses the codec ${decoder}, which is not supported; convert it to a common one such as H.264, ProRes, ` +
  "AAC or PCM first, or leave that stream out.";
