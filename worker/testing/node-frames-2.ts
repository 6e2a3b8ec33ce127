// Frames that the release with protocol 2 (commit 1fac0bd) wrote while it encoded the demo's sample, as they were on
// the socket. `slow`, `cancel`, `yield` and `drain` did not occur in that run: they are as that release serializes
// them.

/** The first of each type, and of `progress` the first of each stage. */
export const NODE_FRAMES_2: readonly string[] = [
  '{"type":"hello","protocol":2,"nodeId":"local-1","session":"50c314c7-8c34-4d0d-8a90-33401a1f4a40","capabilities":{"ffmpegVersion":"n7.0-7-gd38bf5e08e-20240407","encoders":["libx264","libx265","libvpx","libvpx-vp9","libsvtav1","libaom-av1","libtheora","mpeg4","mpeg2video","mjpeg","prores","prores_ks","dnxhd","flv","h263","wmv2","png","libwebp","libwebp_anim","gif","aac","ac3","mp2","libmp3lame","libvorbis","libopus","flac","pcm_s16le","pcm_u8","pcm_alaw","libopencore_amrnb","wmav2"],"cpus":2,"filters":["fps","crop","pad","tpad","transpose","hflip","vflip","overlay","yadif","bwdif","gblur","boxblur","tile","thumbnail","palettegen","paletteuse","colorspace","zscale","tonemap","hwupload"],"muxers":["avif"],"hardware":null,"vulnerabilities":["CVE-2026-8461","CVE-2026-40962"],"isolation":{"level":"full","missing":[]}},"slots":{"inspect":32,"encode":1},"running":[]}',
  '{"type":"progress","items":[{"lease":"T6IoKqRUDgK5Rg.inspect.1","token":"pWGs47luxBq9oO0FVz1u9DK3EQd02ce4d12fbe8350b4","stage":"transferring","fraction":0}]}',
  '{"type":"slots","offered":{"inspect":1,"encode":0},"released":["T6IoKqRUDgK5Rg.inspect.1"]}',
  '{"type":"progress","items":[{"lease":"T6IoKqRUDgK5Rg.encode.1","token":"SNw4ez86b7xBs9QrBGUIafrAXomN2ce4d12fbe8350b4","stage":"encoding","fraction":0}]}',
  '{"type":"progress","items":[{"lease":"T6IoKqRUDgK5Rg.encode.1","token":"SNw4ez86b7xBs9QrBGUIafrAXomN2ce4d12fbe8350b4","stage":"uploading","fraction":0.006525801919061887}]}',
  '{"type":"slow","lease":"T6IoKqRUDgK5Rg.inspect.1"}',
  '{"type":"bye"}',
];
