// Common mistakes in requests and the exact error messages, without the lists of allowed values.
import { expect, it } from "vitest";
import { bodyError } from "./body-error.ts";
import { parseJobRequest } from "./job-request.ts";

const credentials = { access_key_id: "AKID", secret_access_key: "secret" };
const BODY = {
  input: { url: "https://example.com/video.mp4" },
  storage: { service: "s3", bucket: "videos", region: "us-east-1", credentials },
  outputs: { mp4: { path: "a.mp4" } },
  notification: { type: "http", url: "https://example.com/hook" },
};

/** Returns the error for a body with these changes, without the list of allowed values. */
function errorFor(changes: object): { code: string; message: string } | null {
  const parsed = parseJobRequest({ ...BODY, ...changes }, "none");
  if (parsed.ok) return null;
  const { code, message } = parsed.error;
  return { code, message: message.replace(/(llowed(?: as `\w+`)?: ).*$/s, "$1…") };
}

it.each<[changes: object, code: string, message: string]>([
  [
    { storage: undefined },
    "storage_not_valid",
    '`storage` is missing; it must be an object that describes where to store the outputs; for a test, use `"storage":{"service":"coconut"}`',
  ],
  [
    { storage: { service: "s3", region: "us-east-1", credentials } },
    "storage_not_valid",
    "`storage.bucket` is missing: the name of the bucket",
  ],
  [
    { storage: { service: "folder", folder: "../etc" } },
    "storage_not_valid",
    "`storage.folder` must have 1 to 32 lowercase letters, digits and hyphens",
  ],
  [
    { storage: { service: "folder", folder: "media", path: "out/../../etc" } },
    "storage_not_valid",
    "`storage.path` must not contain the segments `.` or `..`",
  ],
  [
    { input: { service: "folder", folder: "media" } },
    "input_not_valid",
    "`input.path` is missing: the path of the media file in the folder, such as in/video.mp4",
  ],
  [
    { input: { service: "folder", folder: "media", path: "in\\..\\a.mov" } },
    "input_not_valid",
    "`input.path` must not contain backslashes; separate folders by `/`",
  ],
  [
    { input: { service: "folder", folder: "media", path: "in/\u0000" } },
    "input_not_valid",
    "`input.path` must not contain control characters",
  ],
  [
    {
      input: { service: "folder", folder: "media", path: "/in//3.JPG" },
      storage: { service: "folder", folder: "media", path: "in" },
      outputs: { jpg: { path: "%d.jpg", number: 5 } },
    },
    "output_param_not_valid",
    "The `path` of the output `jpg` must not be the source itself",
  ],
  [
    { storage: { service: "wasabi", bucket: "videos", credentials } },
    "storage_not_valid",
    "`storage.region` is missing, such as us-east-1",
  ],
  [
    { storage: { service: "s3other", bucket: "b", credentials } },
    "storage_not_valid",
    "`storage.endpoint` is missing: the URL of the service, such as https://s3.example.com",
  ],
  [
    { storage: { service: "s3", bucket: "videos", region: "us-east-1", credentials, buckett: "x" } },
    "storage_not_valid",
    "`storage` has no field `buckett`; did you mean `bucket`? Allowed: …",
  ],
  [
    { storage: { service: "s3", bucket: "videos", region: "us-east-1", credentials, folder: "x" } },
    "storage_not_valid",
    "`storage` has no field `folder`; did you mean `path`? Allowed: …",
  ],
  [
    { storage: { service: "S3", bucket: "videos", region: "us-east-1", credentials } },
    "storage_service_not_valid",
    "`storage.service` `S3` is not supported; did you mean `s3`? Allowed: …",
  ],
  [
    { storage: { service: "aws", bucket: "videos", region: "us-east-1", credentials } },
    "storage_service_not_valid",
    "`storage.service` `aws` is not supported; did you mean `s3`? Allowed: …",
  ],
  [
    { storage: { service: "minio", bucket: "videos", region: "us-east-1", credentials } },
    "storage_service_not_valid",
    "`storage.service` `minio` is not supported; did you mean `s3other`? Allowed: …",
  ],
  [
    { storage: { service: "ftp", bucket: "videos", region: "us-east-1", credentials } },
    "storage_service_not_valid",
    "`storage.service` `ftp` is not supported; allowed: …",
  ],
  [
    { storage: { service: "http", bucket: "videos", region: "us-east-1", credentials } },
    "storage_service_not_valid",
    "`storage.service` `http` is not supported; for a URL, use `storage.url` without `service`",
  ],
  [
    { storage: { bucket: "videos", region: "us-east-1", credentials } },
    "storage_service_not_valid",
    "`storage.service` is missing; allowed: …",
  ],
  [
    { storage: undefined, storages: { service: "s3", bucket: "videos", region: "us-east-1", credentials } },
    "storage_not_valid",
    '`storage` is missing; it must be an object that describes where to store the outputs; for a test, use `"storage":{"service":"coconut"}` (the body has `storages` instead)',
  ],
  [
    {
      storage: { service: "s3", bucket: "b", region: "us-east-1", access_key_id: "AKID", secret_access_key: "secret" },
    },
    "storage_credentials_not_valid",
    "The storage credentials are not correct: `access_key_id` and `secret_access_key` must both be defined in `storage.credentials`; move `access_key_id`, `secret_access_key` from `storage` to `storage.credentials`, with the names `access_key_id`, `secret_access_key`",
  ],
  [
    {
      storage: {
        service: "s3",
        bucket: "videos",
        region: "us-east-1",
        credentials: { access_key: "a", secret_key: "b" },
      },
    },
    "storage_credentials_not_valid",
    "The storage credentials are not correct: `access_key_id` and `secret_access_key` must both be defined in `storage.credentials`; it has `access_key`, `secret_key`; use the names `access_key_id`, `secret_access_key`",
  ],
  [
    { storage: { service: "s3", bucket: "videos", region: "us-east-1", credentials: { access_key_id: "a" } } },
    "storage_credentials_not_valid",
    "The storage credentials are not correct: `access_key_id` and `secret_access_key` must both be defined in `storage.credentials`",
  ],
  [
    { storage: { service: "s3", bucket: "videos", region: "us-east-1", credentials: "AKID:secret" } },
    "storage_credentials_not_valid",
    "The storage credentials are not correct: `access_key_id` and `secret_access_key` must both be defined in `storage.credentials`; `storage.credentials` must be an object",
  ],
  [
    { storage: { service: "azure", container: "videos", credentials: { account: "videos", access_key: "x" } } },
    "storage_credentials_not_valid",
    "The storage credentials are not correct: `account` and `api_key` must both be defined in `storage.credentials`; it has `access_key`; use the names `account`, `api_key`",
  ],
  [
    { storage: { service: "s3other", bucket: "b", credentials, endpoint: "minio.local:9000" } },
    "storage_not_valid",
    "`storage.endpoint` has no scheme; write `https://minio.local:9000` or `http://…`",
  ],
  [
    { storage: { service: "s3other", bucket: "b", credentials, endpoint: "minio:9000" } },
    "storage_not_valid",
    "`storage.endpoint` has no scheme; write `https://minio:9000` or `http://…`",
  ],
  [
    { storage: { service: "s3other", bucket: "b", credentials, endpoint: "s3.example.com/base" } },
    "storage_not_valid",
    "`storage.endpoint` has no scheme; write `https://s3.example.com` or `http://…`",
  ],
  [
    { storage: { url: "s3://bucket/path" } },
    "storage_not_valid",
    '`storage.url` has the scheme `s3`, which is not supported; use `"service":"s3"` with `bucket` and `credentials`',
  ],
  [
    { input: { url: "/home/me/video.mp4" } },
    "input_url_not_valid",
    "`input.url` is a path on your computer, which the service cannot read; use an http or https URL",
  ],
  [
    { input: { url: "C:\\videos\\a.mp4" } },
    "input_url_not_valid",
    "`input.url` is a path on your computer, which the service cannot read; use an http or https URL",
  ],
  [
    { input: { url: "file:///home/me/video.mp4" } },
    "input_url_not_valid",
    "`input.url` is a path on your computer, which the service cannot read; use an http or https URL",
  ],
  [
    { input: { url: "s3://bucket/video.mp4" } },
    "input_url_not_valid",
    '`input.url` has the scheme `s3`, which is not supported; use `"service":"s3"` with `bucket` and `credentials`',
  ],
  [
    { input: { url: "gs://bucket/video.mp4" } },
    "input_url_not_valid",
    '`input.url` has the scheme `gs`, which is not supported; use `"service":"gcs"` with `bucket` and `credentials`',
  ],
  [
    { input: { url: "example.com/video.mp4" } },
    "input_url_not_valid",
    "`input.url` has no scheme; write `https://example.com` or `http://…`",
  ],
  [
    { input: { url: "www.example.com:8080/video.mp4?token=x" } },
    "input_url_not_valid",
    "`input.url` has no scheme; write `https://www.example.com:8080` or `http://…`",
  ],
  [
    { input: { url: "user:secret@example.com" } },
    "input_url_not_valid",
    "`input.url` has a scheme that is not supported; use http or https",
  ],
  [{ input: {} }, "input_url_not_valid", "`input.url` is missing: the http or https URL of the media file"],
  [
    { input: { uri: "https://example.com/a.mp4" } },
    "input_url_not_valid",
    "`input` has no field `uri`; did you mean `url`? Allowed: …",
  ],
  [{ input: { bucket: "b", key: "a" } }, "input_not_valid", "`input.service` is missing; allowed: …"],
  [{ input: "https://example.com/a.mp4" }, "input_not_valid", "The job 'input' is not a valid object."],
  [
    { input: { service: "s3", bucket: "videos", region: "us-east-1", credentials } },
    "input_not_valid",
    "`input.key` is missing: the path of the media file in the bucket, such as in/video.mp4",
  ],
  [
    { outputs: undefined },
    "outputs_not_valid",
    '`outputs` is missing; it must be an object whose property names are formats, such as `{"mp4:720p":{"path":"720p.mp4"}}`',
  ],
  [
    { outputs: undefined, output: {} },
    "outputs_not_valid",
    '`outputs` is missing; it must be an object whose property names are formats, such as `{"mp4:720p":{"path":"720p.mp4"}}` (the body has `output` instead)',
  ],
  [
    { outputs: [{ format: "mp4" }] },
    "outputs_not_valid",
    '`outputs` is a list; it must be an object whose property names are formats, such as `{"mp4:720p":{"path":"720p.mp4"}}`',
  ],
  [
    { outputs: { mp4: "a.mp4" } },
    "output_not_valid",
    '`outputs.mp4` must be an object of output parameters, such as `{"path":"a.mp4"}`, or an array of them',
  ],
  [
    { outputs: { hls: { path: "a" } } },
    "output_param_not_valid",
    '`outputs.hls.path` must have an extension: `hls` is one MPEG-TS file, such as video.ts; for a stream with playlists use `httpstream`, such as `{"httpstream":{"hls":{"path":"hls"}}}`',
  ],
  [
    { outputs: { httpstream: { hls: { path: "hls" }, variants: ["720p"] } } },
    "output_format_not_valid",
    "`outputs.httpstream.variants.0`: Unknown container `720p`; a format starts with its container, such as `mp4:720p`; allowed: …",
  ],
  [
    { outputs: { httpstream: { hls: { path: "hls", variants: ["mp4:720p"] } } } },
    "output_param_not_valid",
    "`outputs.httpstream.hls` has no field `variants`; it is a parameter of the stream: put it next to `hls` and `dash`; allowed: …",
  ],
  [
    { outputs: { httpstream: {} } },
    "output_param_not_valid",
    "`outputs.httpstream` must have `hls` or `dash` or both, each an object with a `path`",
  ],
  [
    { outputs: { httpstream: { hls: {} } } },
    "output_param_not_valid",
    "`outputs.httpstream.hls.path` is missing: the path of the folder in the storage, such as video/hls",
  ],
  [{ outputs: { httpstream: { hls: true } } }, "output_param_not_valid", "`outputs.httpstream.hls` must be an object"],
  [
    { outputs: { mp4: { path: "a", transpose: 90 } } },
    "output_param_not_valid",
    "`outputs.mp4.transpose` must be 0 to 3, not an angle: 1 is 90° clockwise, 2 is 90° counterclockwise",
  ],
  [
    { outputs: { mp4: {} } },
    "output_param_not_valid",
    "`outputs.mp4.path` is missing: the path of the file in the storage, such as video/720p.mp4",
  ],
  [
    { outputs: { mp4: { paht: "a" } } },
    "output_param_not_valid",
    "`outputs.mp4` has no field `paht`; did you mean `path`? Allowed: …",
  ],
  [
    { outputs: { mp4: { filename: "a" } } },
    "output_param_not_valid",
    "`outputs.mp4` has no field `filename`; did you mean `path`? Allowed: …",
  ],
  [
    { outputs: { mp4: { path: "a", start: 5 } } },
    "output_param_not_valid",
    "`outputs.mp4` has no field `start`; did you mean `offset`? Allowed: …",
  ],
  [
    { outputs: { mp4: { path: "a", resolution: "720p" } } },
    "output_param_not_valid",
    '`outputs.mp4` has no field `resolution`; it is a format spec: use `"format":{"resolution":…}` or the name of the output; allowed: …',
  ],
  [
    { outputs: { mp4: { path: "a", quality: 4 } } },
    "output_param_not_valid",
    '`outputs.mp4` has no field `quality`; it is a format spec: use `"format":{"quality":…}` or the name of the output; allowed: …',
  ],
  [
    { outputs: { mp4: { path: "a", format: { vide_codec: "h264" } } } },
    "output_format_not_valid",
    "`outputs.mp4.format` has no field `vide_codec`; did you mean `video_codec`? Allowed: …",
  ],
  [
    { outputs: { mp4: { path: "a", format: { video_codec: "H265" } } } },
    "output_format_not_valid",
    "`outputs.mp4.format.video_codec`: `H265` is not valid; did you mean `hevc`? Allowed as `video_codec`: …",
  ],
  [
    { outputs: { mp4: { path: "a", format: { resolution: "1280*720" } } } },
    "output_format_not_valid",
    "`outputs.mp4.format.resolution`: `1280*720` is not valid; did you mean `1280x720`? Allowed as `resolution`: …",
  ],
  [
    { outputs: { mp4: { path: "a", format: { fps: "3O" } } } },
    "output_format_not_valid",
    "`outputs.mp4.format.fps`: `3O` is not valid; did you mean `30` (with the digit 0, not the letter O)? Allowed as `fps`: …",
  ],
  [
    { outputs: { jpg: { path: "thumb_#num#.jpg", number: 3 } } },
    "output_param_not_valid",
    "`outputs.jpg.path` must not contain `#num#`, which is API v1 syntax; use `%02d`",
  ],
  [
    { outputs: { jpg: { path: "a.jpg", offset: 3 } } },
    "output_param_not_valid",
    "`outputs.jpg` has no field `offset`; did you mean `offsets`? Allowed: …",
  ],
  [
    { outputs: { mp4: { path: "a.mp4", offset: "10%" } } },
    "output_param_not_valid",
    "`outputs.mp4.offset` must be a number of seconds",
  ],
  [
    { outputs: { mp4: { path: "a.mp4", fit: "croped" } } },
    "output_param_not_valid",
    "`outputs.mp4.fit` must be one of pad, crop; did you mean `crop`?",
  ],
  [
    { outputs: { mp4: { path: "a.mp4", watermark: { url: "https://example.com/a.png", position: "top-left" } } } },
    "output_param_not_valid",
    "`outputs.mp4.watermark.position` must be one of topleft, topright, bottomleft, bottomright; did you mean `topleft`?",
  ],
  [
    { outputs: { mp4: { path: "a.mp4", watermark: { position: "topleft" } } } },
    "output_param_not_valid",
    "`outputs.mp4.watermark.url` is missing: an http or https URL",
  ],
  [
    { outputs: { mp4: { path: "a.mp4", watermark: "https://example.com/a.png" } } },
    "output_param_not_valid",
    "`outputs.mp4.watermark` must be false or an object with `url` and `position`, which is one of topleft, topright, bottomleft, bottomright",
  ],
  [
    { outputs: { hls: { path: "/hls" } } },
    "output_param_not_valid",
    '`outputs.hls.path` must have an extension: `hls` is one MPEG-TS file, such as video.ts; for a stream with playlists use `httpstream`, such as `{"httpstream":{"hls":{"path":"hls"}}}`',
  ],
  [
    { outputs: { "hls:720p": { path: "/hls" } } },
    "output_param_not_valid",
    '`outputs.hls:720p.path` must have an extension: `hls` is one MPEG-TS file, such as video.ts; for a stream with playlists use `httpstream`, such as `{"httpstream":{"hls":{"path":"hls"}}}`',
  ],
  [
    { notification: undefined },
    "notification_not_valid",
    '`notification` is missing; it must be an object with a `type`: `{"type":"http","url":"https://example.com/hook"}`, or `{"type":"none"}`',
  ],
  [
    { notification: undefined, webhook: "https://example.com" },
    "notification_not_valid",
    '`notification` is missing; it must be an object with a `type`: `{"type":"http","url":"https://example.com/hook"}`, or `{"type":"none"}` (the body has `webhook` of API v1 instead)',
  ],
  [
    { notification: "https://example.com" },
    "notification_not_valid",
    '`notification` must be an object with a `type`: `{"type":"http","url":"https://example.com/hook"}`, or `{"type":"none"}`',
  ],
  [
    { notification: { url: "https://example.com" } },
    "notification_not_valid",
    "`notification.type` is missing; it must be http, sns or none",
  ],
  [
    { notification: { type: "htpp", url: "https://example.com" } },
    "notification_not_valid",
    "`notification.type` must be http, sns or none; did you mean `http`?",
  ],
  [
    { notification: { type: "http" } },
    "notification_not_valid",
    "`notification.url` is missing: the URL that receives events, such as https://example.com/hook",
  ],
  [
    { notification: { type: "http", uri: "x", url: "https://example.com" } },
    "notification_not_valid",
    "`notification` has no field `uri`; did you mean `url`? Allowed: …",
  ],
  [
    { notification: { type: "http", url: "example.com/hook" } },
    "notification_not_valid",
    "`notification.url` has no scheme; write `https://example.com` or `http://…`",
  ],
  [
    { notification: { type: "http", url: "https://example.com", event: true } },
    "notification_not_valid",
    "`notification` has no field `event`; did you mean `events`? Allowed: …",
  ],
  [
    { notification: { type: "sns" } },
    "notification_not_valid",
    "`notification.region` is missing: the region of the topic, such as us-east-1",
  ],
  [
    { settings: { ultrafas: true } },
    "settings_not_valid",
    "`settings` has no field `ultrafas`; did you mean `ultrafast`? Allowed: …",
  ],
])("%j: %s", (changes, code, message) => {
  expect(errorFor(changes)).toEqual({ code, message });
});

it.each<[format: string, message: string]>([
  [
    "mp4:72Op",
    "Unknown video specification `72Op`; did you mean `720p` (with the digit 0, not the letter O)? Allowed: …",
  ],
  [
    "mp4:72op",
    "Unknown video specification `72op`; did you mean `720p` (with the digit 0, not the letter O)? Allowed: …",
  ],
  ["mp4:h265", "Unknown video specification `h265`; did you mean `hevc`? Allowed: …"],
  ["mp4:x265", "Unknown video specification `x265`; did you mean `hevc`? Allowed: …"],
  ["mp4:libx264", "Unknown video specification `libx264`; did you mean `h264`? Allowed: …"],
  ["mp4:avc1", "Unknown video specification `avc1`; did you mean `h264`? Allowed: …"],
  ["mp4:1280*720", "Unknown video specification `1280*720`; did you mean `1280x720`? Allowed: …"],
  ["mp4:1280×720", "Unknown video specification `1280×720`; did you mean `1280x720`? Allowed: …"],
  ["mp4:2Mbps", "Unknown video specification `2Mbps`; did you mean `2000k`? Allowed: …"],
  ["mp4:2.5M", "Unknown video specification `2.5M`; did you mean `2500k`? Allowed: …"],
  ["mp4:2000kbps", "Unknown video specification `2000kbps`; did you mean `2000k`? Allowed: …"],
  ["mp4:720", "Unknown video specification `720`; did you mean `720p`? Allowed: …"],
  ["mp4:30", "Unknown video specification `30`; did you mean `30fps`? Allowed: …"],
  ["mp4:29.97", "Unknown video specification `29.97`; did you mean `29.97fps`? Allowed: …"],
  ["mp4:HD", "Unknown video specification `HD`; did you mean `720p`? Allowed: …"],
  ["mp4:UHD", "Unknown video specification `UHD`; did you mean `2160p`? Allowed: …"],
  ["mp4:4k", "`4k` is not valid; allowed as `video_bitrate`: …"],
  ["mp4:721p", "`721p` is not valid; did you mean `720p`? Allowed as `resolution`: …"],
  ["mp4:26fps", "`26fps` is not valid; allowed as `fps`: …"],
  ["mp4:hvec", "Unknown video specification `hvec`; did you mean `hevc`? Allowed: …"],
  ["mp4::44100", "Unknown audio specification `44100`; did you mean `44100hz`? Allowed: …"],
  ["mp4::48khz", "Unknown audio specification `48khz`; did you mean `48000hz`? Allowed: …"],
  ["mp4::128kbps", "Unknown audio specification `128kbps`; did you mean `128k`? Allowed: …"],
  ["mp4::5.1", "Unknown audio specification `5.1`; did you mean `multi`? Allowed: …"],
  ["mp4::2ch", "Unknown audio specification `2ch`; did you mean `stereo`? Allowed: …"],
  ["mp4::libmp3lame", "Unknown audio specification `libmp3lame`; did you mean `mp3`? Allowed: …"],
  ["mp4::stereoo", "Unknown audio specification `stereoo`; did you mean `stereo`? Allowed: …"],
  ["mp4:aac", "`aac` is an audio specification and belongs in the third segment: `mp4::aac`"],
  ["mp4:720p:h264", "`h264` is a video specification and belongs in the second segment: `mp4:720p_h264`"],
  ["mp4:720p:30fps", "`30fps` is a video specification and belongs in the second segment: `mp4:720p_30fps`"],
  ["mp4:720p:quality=4", "`quality=4` is an option and belongs in the fourth segment: `mp4:720p::quality=4`"],
  ["mp4:720p_quality=4", "`quality=4` is an option and belongs in the fourth segment: `mp4:720p::quality=4`"],
  [
    "mp4:720p:64k_pix_fmt=yuv420p",
    "`pix_fmt=yuv420p` is an option and belongs in the fourth segment: `mp4:720p:64k:pix_fmt=yuv420p`",
  ],
  ["mp3:64k_frag", "`frag` is an option and belongs in the third segment: `mp3:64k:frag`"],
  ["mp4:720p::qualty=4", "Unknown option `qualty=4`; did you mean `quality=4`? Allowed: …"],
  ["mp4:720p::quality=9", "`quality=9` is not valid; allowed as `quality`: …"],
  ["mp4:720p::vprofile=hihg", "`vprofile=hihg` is not valid; did you mean `high`? Allowed as `vprofile`: …"],
  ["mp4:720p::crf=23", "Unknown option `crf=23`; allowed: …"],
  ["jpg:300", "Unknown size specification `300`; allowed: …"],
  ["jpg:300*200", "Unknown size specification `300*200`; did you mean `300x200`? Allowed: …"],
  ["jpg:720", "Unknown size specification `720`; did you mean `720p`? Allowed: …"],
  [
    "dash",
    'Unknown container `dash`; for HLS or DASH, use the output `httpstream`, such as `{"httpstream":{"dash":{"path":"dash"}}}`; allowed: …',
  ],
  [
    "m3u8",
    'Unknown container `m3u8`; for HLS or DASH, use the output `httpstream`, such as `{"httpstream":{"dash":{"path":"dash"}}}`; allowed: …',
  ],
  ["httpstrem", "Unknown container `httpstrem`; did you mean `httpstream`? Allowed: …"],
  ["mp5", "Unknown container `mp5`; did you mean `mp4`? Allowed: …"],
  ["m4v", "Unknown container `m4v`; did you mean `mp4`? Allowed: …"],
  ["ts", "Unknown container `ts`; did you mean `mpegts`? Allowed: …"],
  ["thumbnail", "Unknown container `thumbnail`; did you mean `jpg`? Allowed: …"],
  ["video/mp4", "Unknown container `video/mp4`; did you mean `mp4`? Allowed: …"],
  [".mp4", "Unknown container `.mp4`; did you mean `mp4`? Allowed: …"],
  ["720p", "Unknown container `720p`; a format starts with its container, such as `mp4:720p`; allowed: …"],
  ["h264", "Unknown container `h264`; a format starts with its container, such as `mp4:h264`; allowed: …"],
])("the format %s", (format, message) => {
  const error = { code: "output_format_not_valid", message: `\`outputs.${format}\`: ${message}` };
  expect(errorFor({ outputs: { [format]: { path: "a" } } })).toEqual(error);
});

it.each<[condition: string, message: string]>([
  ["{{ input.width }} == 5", "write `=` instead of `==` (column 19 of `{{ input.width }} == 5`)"],
  [
    "{{ input.width }} > 1 && {{ input.height }} > 1",
    "write `AND` instead of `&&` (column 23 of `{{ input.width }} > 1 && {{ input.height }} > 1`)",
  ],
  ["1 || 0", "write `OR` instead of `||` (column 3 of `1 || 0`)"],
  ["!{{ input.is_hd }}", "write `NOT` instead of `!` (column 1 of `!{{ input.is_hd }}`)"],
  [
    "{input.width} > 5",
    "write `{{ input.width }}` (two braces on each side) instead of `{input.width}` (column 1 of `{input.width} > 5`)",
  ],
  [
    "{{ input.width > 5",
    "write `{{ input.width }}` (two braces on each side) instead of `{{ input.width ` (column 1 of `{{ input.width > 5`)",
  ],
  [
    "$source_width > 100",
    "`$source_width` is API v1 syntax; write `{{ input.width }}` (column 1 of `$source_width > 100`)",
  ],
  [
    "{{ input.widht }} > 5",
    "the variable `input.widht` does not exist; did you mean `{{ input.width }}`? (column 1 of `{{ input.widht }} > 5`)",
  ],
  ["width > 5", "write `{{ input.width }}` instead of `width` (column 1 of `width > 5`)"],
  ["{{ input.width }} => 5", "write `>=` instead of `=>` (column 19 of `{{ input.width }} => 5`)"],
])("the condition %s", (condition, message) => {
  const error = { code: "output_condition_not_valid", message: `\`outputs.mp4.if\`: ${message}` };
  expect(errorFor({ outputs: { mp4: { path: "a", if: condition } } })).toEqual(error);
});

const FORM = "The body is a form; this API accepts JSON, see /docs";
const V1 = "The body is an API v1 configuration; this API accepts JSON, see /docs";
it.each<[text: string | null, message: string]>([
  ["", "The body is empty; send JSON"],
  [" \n", "The body is empty; send JSON"],
  [null, "The body is not valid UTF-8; send JSON"],
  ['{"input":{"url":"https://x/y"},}', "The body is not valid JSON: unexpected `}` after a comma (line 1, column 32)"],
  [
    "{'input':1}",
    "The body is not valid JSON: unexpected `'` where a property name in double quotes is expected (line 1, column 2)",
  ],
  ["no JSON", "The body is not valid JSON: unexpected `no` where a value is expected (line 1, column 1)"],
  ["input[url]=https%3A%2F%2Fexample.com&outputs=1", FORM],
  ['--x1\r\nContent-Disposition: form-data; name="input"\r\n\r\na\r\n--x1--', FORM],
  ["var s3 = s3://k:s@bucket\nset source = https://example.com/a.mp4\n-> mp4 = $s3/a.mp4", V1],
  ["set webhook = https://example.com", V1],
])("the body %j", (text, message) => {
  expect(bodyError(text)).toBe(message);
});

it.each([
  ["line ends", "\n"],
  ["spaces", " "],
  ["words", "set a "],
  ["opening brackets", "["],
])("explains a body of 1 MiB of %s in linear time", (_, piece) => {
  const text = `${piece.repeat(2 ** 20 / piece.length)}x`;
  // A quadratic search would take hours.
  expect(bodyError(text)).toMatch(/^The body is not valid JSON: /);
});

it.each<[changes: object]>([
  [{ outputs: { mp4: { path: "a", offset: "2", duration: "1.5", transpose: "1", vflip: "true", hflip: "0" } } }],
  [{ outputs: { mp4: { path: "a", offset: 2, duration: 1.5, transpose: 1, vflip: true, hflip: false } } }],
])("accepts strings for numbers and booleans: %j", (changes) => {
  expect(parseJobRequest({ ...BODY, ...changes }, "none")).toMatchObject({
    value: { outputs: [{ offsetMs: 2000, durationMs: 1500, transpose: 1, vflip: true, hflip: false }] },
  });
});

it("accepts strings for numbers and booleans in nested objects", () => {
  const outputs = {
    jpg: { path: "%d.jpg", offsets: ["1", 2.5], sprite: { columns: "3" }, blur: "2", watermark: "false" },
    png: { path: "%d.png", number: "3", sprite: "1", vtt: "false" },
    httpstream: { hls: { path: "h" }, segment_duration: "4", thumbnails: 1 },
  };
  const more = {
    notification: { ...BODY.notification, events: "true", metadata: "0" },
    settings: { ultrafast: "1" },
    storage: { ...BODY.storage, secure: "false" },
  };
  expect(parseJobRequest({ ...BODY, ...more, outputs }, "none")).toMatchObject({
    value: {
      outputs: [
        { selection: { offsetsMs: [1000, 2500] }, sprite: { columns: 3 }, blur: 2, watermark: null },
        { selection: { number: 3 }, sprite: { columns: 4 }, vtt: null },
        { segmentDurationMs: 4000, thumbnails: true },
      ],
      notification: { events: true, metadata: false },
      settings: { ultrafast: true },
      storage: { secure: false },
    },
  });
});

it.each(["", " 2", "2s", "0x2", "1e3", "02", ".5", "--1", "٣", "NaN", "Infinity", "yes", "TRUE"])(
  "rejects the string %j",
  (text) => {
    expect(errorFor({ outputs: { mp4: { path: "a", offset: text } } })?.code).toBe("output_param_not_valid");
    expect(errorFor({ outputs: { mp4: { path: "a", vflip: text } } })?.code).toBe("output_param_not_valid");
  },
);
