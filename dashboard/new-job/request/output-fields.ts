// The fields of outputs, by their kind: labels, examples and order. Their kinds are the schemas'.
import { type FieldText, type FormField, type SchemaFields, withSchema } from "./form-field.ts";
import type { OutputKind } from "./output-list.ts";
import { FIELDS } from "./schema-fields.ts";

const PART = ["path", "offset", "duration", "loudness", "if", "key"];
const STILL = ["number", "interval", "offsets", "sprite", "vtt"];

/** The texts of all fields, in their order. */
const TEXTS: readonly FieldText[] = [
  { member: "path", label: "Path in the storage", example: "video/720p.mp4", first: true },
  { member: "hls.path", label: "HLS in", example: "hls", help: "MPEG-TS segments; empty for none", first: true },
  { member: "dash.path", label: "DASH in", example: "dash", help: "Fragmented MP4; empty for none", first: true },
  { member: "dash.hlsfmp4", label: "HLS playlists for the DASH segments, too" },
  { member: "number", label: "Number of images", help: "Spread evenly", first: true },
  { member: "scene.number", label: "Scenes", first: true },
  { member: "scene.duration", label: "Length of each", help: "Seconds" },
  { member: "from", label: "Track of the source", example: "en", help: "Number or language", first: true },
  { member: "url", label: "File instead of a track", example: "https://example.com/en.srt" },
  { member: "shift", label: "Show later by", help: "Seconds; negative: earlier" },
  { member: "language", label: "Language of the file", example: "de", help: "For text that is not in Unicode" },
  { member: "optional", label: "Skip the output without its track" },
  { member: "interval", label: "Every", help: "Seconds; 0 is automatic. Instead of a number" },
  { member: "offsets", label: "At", example: "1, 10, 30", help: "Seconds. Instead of a number" },
  { member: "sprite", label: "Sprite sheets" },
  { member: "vtt", label: "WebVTT file for seek bars" },
  { member: "live_playlist", label: "Play while it is encoded", help: "The playlists grow with the stream" },
  {
    member: "drop_similar_variants",
    label: "Leave out similar renditions",
    help: "Renditions that save few bits; all videos need a VMAF",
  },
  { member: "offset", label: "Start at", help: "Seconds" },
  { member: "duration", label: "Length", help: "Seconds" },
  { member: "if", label: "Only if", example: "{{ input.width }} >= 1280" },
  { member: "key", label: "Key", help: "Names the output in responses; the format by default" },
  { member: "square", label: "Square" },
  { member: "blur", label: "Blur" },
  { member: "fit", label: "Other aspect ratios" },
  { member: "transpose", label: "Rotate", help: "1: 90° clockwise, 2: counterclockwise; 0 and 3 flip, too" },
  { member: "hflip", label: "Flip horizontally" },
  { member: "vflip", label: "Flip vertically" },
  { member: "deinterlace", label: "Deinterlace" },
  { member: "watermark.url", label: "Watermark", example: "https://example.com/logo.png" },
  { member: "watermark.position", label: "Its corner" },
  { member: "burn.url", label: "Burnt-in captions", example: "https://example.com/en.vtt" },
  { member: "burn.from", label: "Captions of the source", example: "en", help: "Instead of a file: a language" },
  { member: "burn.position", label: "Their place" },
  { member: "captions", label: "Closed captions in the video" },
  { member: "audio", label: "Audio tracks of the source", help: "Other choices are in the JSON" },
  { member: "loudness", label: "Loudness", example: "-16", help: "LUFS, or measure to only measure it" },
  { member: "subtitles", label: "Subtitles of the source", help: "Other choices are in the JSON" },
  { member: "thumbnails", label: "Thumbnails for seek bars" },
  { member: "segment_duration", label: "Segments", help: "Seconds" },
  { member: "playlist_name", label: "Name of the playlist", example: "master" },
  { member: "hls.version", label: "HLS version", help: "3: video and audio in the same segments" },
  { member: "encryption.key_uri", label: "URL of the key", help: "Encrypts the HLS segments (AES-128)" },
  { member: "encryption.key", label: "Key", type: "secret", help: "Made by the service by default" },
];

const fields = (schema: SchemaFields, has: (member: string) => boolean = () => true): readonly FormField[] =>
  withSchema(
    TEXTS.filter(({ member }) => has(member)),
    schema,
  );

export const OUTPUT_FIELDS: Readonly<Record<OutputKind, readonly FormField[]>> = {
  video: fields(FIELDS.video),
  audio: fields(FIELDS.video, (member) => PART.includes(member)),
  image: fields(FIELDS.image, (member) => !member.startsWith("scene")),
  animated: fields(FIELDS.image, (member) => !STILL.includes(member)),
  text: fields(FIELDS.text),
  stream: fields(FIELDS.stream).map((field) =>
    field.member === "path" ? { ...field, label: "Folder in the storage", example: "video" } : field,
  ),
};
