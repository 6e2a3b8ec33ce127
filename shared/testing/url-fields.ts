// The fields of a job that contain a URL.

const keys = { access_key_id: "AKID", secret_access_key: "hunter2" };
const bucket = { service: "s3other", bucket: "bucket", credentials: keys };
const azure = { service: "azure", container: "videos", credentials: { account: "account", api_key: "aHVudGVyMg==" } };
const video = (params: object) => ({ outputs: { "mp4:240p": { path: "/a.mp4", ...params } } });
const image = (params: object) => ({ outputs: { "jpg:320x": { path: "/a.jpg", ...params } } });
const stream = { path: "/s", hls: { path: "/hls" } };

/** A valid job. */
export const JOB_WITH_URLS = {
  input: { url: "https://media.example.com/video.mp4" },
  storage: { ...bucket, endpoint: "https://s3.example.com" },
  notification: { type: "http", url: "https://hooks.example.com/" },
  ...video({}),
};

type UrlField = readonly [field: string, code: string, changes: (url: string) => object];

/** Each field with the code of its error, and the changes of the job that set it. */
export const URL_FIELDS: readonly UrlField[] = [
  ["input.url", "input_url_not_valid", (url) => ({ input: { url } })],
  ["input.endpoint", "input_not_valid", (url) => ({ input: { ...bucket, key: "video.mp4", endpoint: url } })],
  ["storage.endpoint", "storage_not_valid", (url) => ({ storage: { ...bucket, endpoint: url } })],
  ["storage.endpoint", "storage_not_valid", (url) => ({ storage: { ...bucket, service: "r2", endpoint: url } })],
  ["storage.endpoint", "storage_not_valid", (url) => ({ storage: { ...azure, endpoint: url } })],
  ["storage.url", "storage_not_valid", (url) => ({ storage: { url } })],
  ["notification.url", "notification_not_valid", (url) => ({ notification: { type: "http", url } })],
  ["outputs.mp4:240p.watermark.url", "output_param_not_valid", (url) => video({ watermark: { url } })],
  ["outputs.jpg:320x.watermark.url", "output_param_not_valid", (url) => image({ watermark: { url } })],
  ["outputs.mp4:240p.burn.url", "output_param_not_valid", (url) => video({ burn: { url } })],
  ["outputs.mp4:240p.overlays.1.url", "output_param_not_valid", (url) => video({ overlays: [{ text: "a" }, { url }] })],
  ["outputs.jpg:320x.overlays.url", "output_param_not_valid", (url) => image({ overlays: { url } })],
  ["outputs.jpg:320x.burn.font.url", "output_param_not_valid", (url) => image({ burn: { from: 1, font: { url } } })],
  [
    "outputs.httpstream.subtitles.0.url",
    "output_param_not_valid",
    (url) => ({ outputs: { httpstream: { ...stream, subtitles: [{ url, language: "en" }] } } }),
  ],
];
