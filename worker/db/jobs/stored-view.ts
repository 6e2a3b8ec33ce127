// Compresses a job's view for the index. A row with a view of ten outputs needs 430 bytes instead of a page of 4 KiB,
// so that D1's 10 GB hold 23 million jobs and not 2.4 million (docs/benchmarks.md). A view of 30 outputs of 100 images
// with long paths has 3.5 MB, and D1 accepts 2 MB a row (D1 limits).
import { deflateRawSync, inflateRawSync } from "node:zlib";

/** Typical texts of views, the most frequent at the end. It must not change: stored views were compressed with it. */
const DICTIONARY = new TextEncoder().encode(
  '"error":"The service lost the state of this job; please create it again","error_code":"internal_error""video.aborted' +
    '"image.aborted""httpstream.aborted""video.skipped""image.skipped""video.queued""video.waiting""image.waiting""httpstream' +
    '.waiting""input.starting""input.transferring""input.failed""job.starting""job.aborted""job.failed""ultrafast":{"chunks":' +
    '"note":""encoder":"libx265""libvpx-vp9""libsvtav1""libopus""libmp3lame""aac""copy""webm:""mp3""gif:""webp:""png:""hevc"' +
    '"type":"httpstream","format":"httpstream","urls":[{"format":"hls","url":"https://storage.googleapis.com/master.m3u8"},' +
    '{"format":"dash","url":"https://r2.cloudflarestorage.com/manifest.mpd"}],"status":"httpstream.packaged"}' +
    '{"key":"jpg:320x","type":"image","format":"jpg:320x","urls":["https://.s3.amazonaws.com/thumbnails/0001.jpg",' +
    '"https://.s3.us-east-1.amazonaws.com/images/01.jpg"],"status":"image.created"},{"key":"mp4:240p","type":"video",' +
    '"format":"mp4:240p","url":"https://.s3.eu-west-1.amazonaws.com/videos/480p.mp4","status":"video.encoded","encoder":' +
    '"libx264"},{"key":"mp4:1080p","type":"video","format":"mp4:1080p","url":"https://","status":"video.encoded","encoder":' +
    '"libx264"},{"key":"mp4:720p","type":"video","format":"mp4:720p","url":"https://","status":"video.encoded","encoder":' +
    '"libx264"}]}{"id":"","created_at":"2026-11-22 12:00:00 +0000","completed_at":"2026-11-22 12:00:00 +0000","status":' +
    '"job.completed","progress":"100%","input":{"status":"input.transferred"},"outputs":[{"key":"',
);
const START = "z1:";

/** Returns the stored form of a view in JSON. */
export function packView(view: string): string {
  const packed = START + deflateRawSync(view, { dictionary: DICTIONARY }).toString("base64");
  return packed.length < view.length ? packed : view;
}

/** Reverses `packView`. Text that is not packed is returned as it is. Throws on packed text that is damaged. */
export function unpackView(stored: string): string {
  if (!stored.startsWith(START)) return stored;
  const packed = Uint8Array.from(atob(stored.slice(START.length)), (char) => char.charCodeAt(0));
  return new TextDecoder().decode(inflateRawSync(packed, { dictionary: DICTIONARY }));
}
