// The fields of outputs, by their kind.
import { choice, type FormField, flag, number, text } from "./form-field.ts";
import type { OutputKind } from "./output-list.ts";

const PATH = text("path", "Path in the storage", { first: true, example: "video/720p.mp4" });
const COMMON: readonly FormField[] = [
  text("if", "Only if", { example: "{{ input.width }} >= 1280" }),
  text("key", "Key", { help: "Names the output in responses; the format by default" }),
];
const BURN: readonly FormField[] = [
  text("burn.url", "Burnt-in captions", { example: "https://example.com/en.vtt", help: "WebVTT, SubRip or ASS" }),
  text("burn.from", "Captions of the source", { example: "en", help: "Instead of a file: a language" }),
  choice("burn.position", "Their place", ["bottom", "top"]),
];
const FILTERS: readonly FormField[] = [
  choice("fit", "Other aspect ratios", ["pad", "crop"]),
  choice("transpose", "Rotate", ["0", "1", "2", "3"], "1: 90° clockwise, 2: counterclockwise; 0 and 3 flip, too"),
  flag("hflip", "Flip horizontally"),
  flag("vflip", "Flip vertically"),
  text("watermark.url", "Watermark", { example: "https://example.com/logo.png" }),
  choice("watermark.position", "Its corner", ["topleft", "topright", "bottomleft", "bottomright"]),
  ...BURN,
];
const PART: readonly FormField[] = [
  number("offset", "Start at", { help: "Seconds" }),
  number("duration", "Length", { help: "Seconds" }),
];
const STILL: readonly FormField[] = [
  number("number", "Number of images", { first: true, help: "Spread evenly" }),
  number("interval", "One every", { help: "Seconds; 0 is automatic. Instead of a number" }),
  { member: "offsets", label: "At", type: "numbers", example: "1, 10, 30", help: "Seconds. Instead of a number" },
  flag("sprite", "Sprite sheets"),
  flag("vtt", "WebVTT file for seek bars"),
];

const LOUDNESS = text("loudness", "Loudness", { example: "-16", help: "LUFS, or measure to only measure it" });
const CAPTIONS = choice("captions", "Closed captions in the video", ["keep", "drop"]);

const AUDIO = choice("audio", "Audio tracks of the source", ["all"], "Each track; other choices are in the JSON");

const SUBTITLES = choice(
  "subtitles",
  "Subtitles of the source",
  ["all"],
  "Each text track; other choices are in the JSON",
);

export const OUTPUT_FIELDS: Readonly<Record<OutputKind, readonly FormField[]>> = {
  video: [
    PATH,
    ...PART,
    ...COMMON,
    ...FILTERS,
    flag("deinterlace", "Deinterlace"),
    CAPTIONS,
    AUDIO,
    LOUDNESS,
    SUBTITLES,
  ],
  audio: [PATH, ...PART, LOUDNESS, ...COMMON],
  image: [PATH, ...STILL, ...COMMON, flag("square", "Square"), number("blur", "Blur", { help: "1 to 5" }), ...FILTERS],
  text: [
    PATH,
    text("from", "Track of the source", { first: true, example: "en", help: "Number or language" }),
    text("url", "File instead of a track", { example: "https://example.com/en.srt" }),
    number("shift", "Show later by", { help: "Seconds; negative: earlier" }),
    text("language", "Language of the file", { example: "de", help: "For text that is not in Unicode" }),
    ...COMMON,
  ],
  animated: [
    PATH,
    number("scene.number", "Scenes", { first: true }),
    number("scene.duration", "Length of each", { help: "Seconds, 5 at most" }),
    ...COMMON,
    flag("square", "Square"),
    ...FILTERS,
  ],
  stream: [
    text("path", "Folder in the storage", { first: true, example: "video" }),
    text("hls.path", "HLS in", { first: true, example: "hls", help: "MPEG-TS segments; empty for none" }),
    text("dash.path", "DASH in", { first: true, example: "dash", help: "Fragmented MP4; empty for none" }),
    flag("dash.hlsfmp4", "HLS playlists for the DASH segments, too"),
    flag("live_playlist", "Play while it is encoded", "The playlists grow with the stream"),
    flag(
      "drop_similar_variants",
      "Leave out similar renditions",
      "Renditions that save few bits; all videos need a VMAF, such as mp4:720p::quality=vmaf93",
    ),
    AUDIO,
    SUBTITLES,
    flag("thumbnails", "Thumbnails for seek bars"),
    CAPTIONS,
    ...BURN,
    LOUDNESS,
    number("segment_duration", "Segments", { help: "2 to 10 seconds; 6 by default" }),
    text("playlist_name", "Name of the playlist", { example: "master" }),
    choice("hls.version", "HLS version", ["3", "4", "5", "6", "7"], "3: video and audio in the same segments"),
    text("encryption.key_uri", "URL of the key", { help: "Encrypts the HLS segments (AES-128)" }),
    {
      member: "encryption.key",
      label: "Key",
      type: "secret",
      help: "32 hexadecimal digits; made by the service by default",
    },
    ...COMMON,
  ],
};
