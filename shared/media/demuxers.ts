// The file formats that ffmpeg and ffprobe may open.

/** Demuxers of images, for watermarks. */
export const IMAGE_DEMUXERS = "gif,apng,png_pipe,jpeg_pipe,webp_pipe,bmp_pipe,tiff_pipe";

/**
 * Value of `-format_whitelist`; goes before every input, with `-protocol_whitelist file`.
 *
 * Formats that refer to other files or URLs (hls, dash, concat, sdp, imf, svg) are left out: with them, a "video" could
 * make ffmpeg read other local files or call other servers. The protocol list alone does not prevent that:
 * CVE-2023-6605 (dash opens http nevertheless) affects all builds on npm. `image2` is left out because it opens svg by
 * name, and lavfi because it creates sources from text.
 */
export const ALLOWED_DEMUXERS: string = [
  "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,mpeg,mpegvideo,avi,flv,asf,mxf,dv,h264,hevc,m4v",
  "ogg,wav,mp3,flac,aac,ac3,eac3,aiff,caf,amr",
  IMAGE_DEMUXERS,
].join(",");

/** Demuxers (ffprobe's names) that use the file's index to find the keyframe before a timestamp. */
export const INDEXED_DEMUXERS: ReadonlySet<string> = new Set(["mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm"]);
