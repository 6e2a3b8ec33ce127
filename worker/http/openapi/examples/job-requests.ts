// Bodies of POST /v2/jobs that the parser takes.

const CREDENTIALS = {
  access_key_id: "AKIAIOSFODNN7EXAMPLE",
  secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};
const S3 = { service: "s3", bucket: "my-bucket", region: "eu-west-1", credentials: CREDENTIALS };
const INPUT = { url: "https://media.example.com/film.mov" };
const NOTIFICATION = { type: "http", url: "https://example.com/hook" };

export const JOB_REQUESTS = {
  videosAndPictures: {
    summary: "Two videos, a few pictures",
    value: {
      input: INPUT,
      storage: S3,
      outputs: {
        "mp4:240p": { path: "film/240p.mp4" },
        "mp4:1080p": { path: "film/1080p.mp4", if: "{{ input.width }} >= 1920" },
        "jpg:320x": { path: "film/picture-%02d.jpg", number: 5 },
      },
      notification: NOTIFICATION,
    },
  },
  stream: {
    summary: "HLS and DASH over the same segments, with all events",
    value: {
      input: INPUT,
      storage: S3,
      outputs: { httpstream: { dash: { path: "film/stream", hlsfmp4: true } } },
      notification: { ...NOTIFICATION, events: true, metadata: true },
    },
  },
  streamWithExtras: {
    summary: "HLS with encrypted MPEG-TS segments, and DASH: own renditions, subtitles, pictures for the seek bar",
    value: {
      input: INPUT,
      storage: S3,
      outputs: {
        httpstream: {
          path: "film",
          hls: { path: "hls" },
          dash: { path: "dash" },
          variants: ["mp4:x:64k", "mp4:360p::quality=4", "mp4:720p::quality=4,maxrate=2500k", "mp4:hevc_1080p"],
          playlist_name: "index",
          segment_duration: 4,
          encryption: { key_uri: "https://keys.example.com/film" },
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
  severalOfOneFormat: {
    summary: "The film and a trailer of it, sound alone, a sheet of pictures, in the service's own storage",
    value: {
      input: INPUT,
      storage: { service: "coconut" },
      outputs: {
        "mp4:720p": [
          { key: "film", path: "film.mp4" },
          { key: "trailer", path: "trailer.mp4", offset: 60, duration: 30 },
        ],
        "mp3:192k": { path: "film.mp3" },
        "jpg:160x": { path: "sheet-%02d.jpg", interval: 0, sprite: { limit: 100, columns: 10 }, vtt: true },
      },
      notification: NOTIFICATION,
      settings: { ultrafast: true },
    },
  },
};
