// Examples of the body of POST /v2/jobs, all valid.

const CREDENTIALS = {
  access_key_id: "AKIAIOSFODNN7EXAMPLE",
  secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};
const S3 = { service: "s3", bucket: "my-bucket", region: "eu-west-1", credentials: CREDENTIALS };
const INPUT = { url: "https://media.example.com/video.mov" };
const NOTIFICATION = { type: "http", url: "https://example.com/hook" };

export const JOB_REQUESTS = {
  videosAndImages: {
    summary: "Two videos and five images",
    value: {
      input: INPUT,
      storage: S3,
      outputs: {
        "mp4:240p": { path: "video/240p.mp4" },
        "mp4:1080p": { path: "video/1080p.mp4", if: "{{ input.width }} >= 1920" },
        "jpg:320x": { path: "video/image-%02d.jpg", number: 5 },
      },
      notification: NOTIFICATION,
    },
  },
  stream: {
    summary: "HLS and DASH with the same segments, and all events",
    value: {
      input: INPUT,
      storage: S3,
      outputs: { httpstream: { dash: { path: "video/stream", hlsfmp4: true } } },
      notification: { ...NOTIFICATION, events: true, metadata: true },
    },
  },
  streamWithExtras: {
    summary: "HLS with encrypted MPEG-TS segments, and DASH: variants, subtitles and thumbnails",
    value: {
      input: INPUT,
      storage: S3,
      outputs: {
        httpstream: {
          path: "video",
          hls: { path: "hls" },
          dash: { path: "dash" },
          variants: ["mp4:x:64k", "mp4:360p::quality=4", "mp4:720p::quality=4,maxrate=2500k", "mp4:hevc_1080p"],
          playlist_name: "index",
          segment_duration: 4,
          encryption: { key_uri: "https://keys.example.com/video" },
          subtitles: [
            { url: "https://media.example.com/en.srt", language: "en", name: "English", default: true },
            { url: "https://media.example.com/pt.vtt", language: "pt-BR" },
          ],
          thumbnails: true,
        },
      },
      notification: NOTIFICATION,
    },
  },
  severalOutputsPerFormat: {
    summary: "A video, a trailer, an audio file and sprite sheets, in the built-in storage",
    value: {
      input: INPUT,
      storage: { service: "coconut" },
      outputs: {
        "mp4:720p": [
          { key: "full", path: "video.mp4" },
          { key: "trailer", path: "trailer.mp4", offset: 60, duration: 30 },
        ],
        "mp3:192k": { path: "audio.mp3" },
        "jpg:160x": { path: "sheet-%02d.jpg", interval: 0, sprite: { limit: 100, columns: 10 }, vtt: true },
      },
      notification: NOTIFICATION,
      settings: { ultrafast: true },
    },
  },
  chosenNodes: {
    summary: "An AV1 video on GPU nodes in Europe, and after five minutes on any nodes",
    value: {
      input: INPUT,
      storage: S3,
      outputs: { "mp4:av1_1080p": { path: "video/av1.mp4" } },
      notification: NOTIFICATION,
      settings: { queue: "gpu", require: ["region:eu"], priority: 10, start_within_s: 3600, max_run_s: 43_200 },
    },
  },
};

/** Bodies for many jobs. */
export const BULK_REQUESTS = {
  ids: { summary: "Some jobs", value: { ids: ["OolQXaiU86NFki", "Zf81kmQpsR02bc"] } },
  filter: {
    summary: "Jobs of a day whose input has a host",
    value: {
      filter: { q: "media.example.com", created_after: "2026-11-22", created_before: "2026-11-23" },
      limit: 100,
    },
  },
};
