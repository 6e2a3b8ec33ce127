// Which file formats ffmpeg and ffprobe may open.

/** Of single pictures: those that a watermark may come in. */
export const PICTURE_DEMUXERS = "gif,apng,png_pipe,jpeg_pipe,webp_pipe,bmp_pipe,tiff_pipe";

/**
 * Value of `-format_whitelist`, to be given before every input together with `-protocol_whitelist file`.
 *
 * Formats that name other files or addresses (hls, dash, concat, sdp, imf, svg) are left out: they let a "video" make
 * ffmpeg read other local files or call other servers. The protocol list alone does not stop that: CVE-2023-6605 (dash
 * opens http in spite of it) is in all builds that npm brings. `image2` is left out because it reaches svg by name, and
 * lavfi because it builds sources out of text.
 */
export const ALLOWED_DEMUXERS: string = [
  "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,mpeg,mpegvideo,avi,flv,asf,mxf,dv,h264,hevc,m4v",
  "ogg,wav,mp3,flac,aac,ac3,eac3,aiff,caf,amr",
  PICTURE_DEMUXERS,
].join(",");

/** Demuxers, by ffprobe's names, that find the keyframe before a time in the file's index. */
export const INDEXED_DEMUXERS: ReadonlySet<string> = new Set(["mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm"]);
