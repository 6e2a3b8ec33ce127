// Converts file outputs of Zencoder: videos, audio and thumbnails.
import type { Draft } from "../draft.ts";
import { type AudioParts, formatKey, imageKey, ROTATIONS, type VideoParts } from "../format-key.ts";
import type { Json } from "../note.ts";
import type { Reader } from "../reader.ts";
import type { Rendition } from "../stream-variants.ts";
import { subtitlesOf } from "./captions.ts";

const AUDIO_FORMATS = /^(?:mp3|aac|m4a|ogg|oga|wav|flac|opus|wma)$/i;
const FORMATS: Readonly<Record<string, string>> = {
  m4v: "mp4",
  "3g2": "3gp",
  "3gp2": "3gp",
  ts: "mpegts",
  m2ts: "mpegts",
  mpg: "mpegts",
  oga: "ogg",
  webma: "webm",
  fmp4: "mp4",
  wma: "asf",
  divx: "avi",
};

/** Returns the path of an output, from its URL or from `base_url` and `filename`. */
export function pathOf(draft: Draft, output: Reader, extension: string): string {
  const url = output.at("url").text();
  const base = output.at("base_url").text();
  const name = output.at("filename").text();
  const label = output.at("label").text() ?? "output";
  const whole =
    url ?? (base === undefined ? undefined : `${base.replace(/(?<!\/)\/+$/, "")}/${name ?? `${label}.${extension}`}`);
  return whole === undefined ? (name ?? `${label}.${extension}`) : draft.outputPath(whole, output.path);
}

export function convertFile(draft: Draft, output: Reader): void {
  const named = output.at("format").text() ?? extensionOf(output) ?? "mp4";
  const container = Object.hasOwn(FORMATS, named.toLowerCase()) ? (FORMATS[named.toLowerCase()] ?? named) : named;
  const rendition = renditionOf(draft, output);
  const isAudio = AUDIO_FORMATS.test(named);
  const lost = (part: string, message: string): void => draft.lost(`${output.path}: ${part}`, message);
  const format = formatKey({ container, ...rendition, ...(isAudio ? { video: null } : {}) }, lost);
  draft.output(
    format,
    {
      key: output.at("label").text(),
      path: pathOf(draft, output, named),
      ...clipOf(draft, output),
      ...(rendition.video === null || isAudio ? {} : filtersOf(draft, output)),
      ...(rendition.video === null || isAudio ? {} : subtitlesOf(draft, [output], container.toLowerCase())),
    },
    output.path,
  );
  optionsOf(draft, output);
  thumbnailsOf(draft, output);
}

const extensionOf = (output: Reader): string | undefined =>
  /\.([a-z0-9]{2,4})(?:\?.*)?$/is.exec(output.at("filename").text() ?? output.at("url").text() ?? "")?.[1];

export function renditionOf(draft: Draft, output: Reader): Rendition {
  return {
    video: output.at("skip_video").flag() ? null : videoOf(draft, output),
    audio: output.at("skip_audio").flag() ? null : audioOf(output),
  };
}

function sizeOf(from: Reader): { readonly width?: number | undefined; readonly height?: number | undefined } {
  const [, width, height] = /^(\d*)x(\d*)$/i.exec(from.at("size").text() ?? "") ?? [];
  return { width: Number(width) || from.at("width").number(), height: Number(height) || from.at("height").number() };
}

function videoOf(draft: Draft, output: Reader): VideoParts {
  const size = sizeOf(output);
  const kbps = output.at("video_bitrate").number();
  const hasSize = size.width !== undefined || size.height !== undefined;
  if (hasSize && !output.at("upscale").flag()) {
    draft.note("changed", output.path, "a smaller source is enlarged to the size; `if` can skip the output instead");
  }
  const level = output.at("h264_level").number();
  return {
    ...size,
    kbps,
    codec: output.at("video_codec").text(),
    quality: output.at("quality").number(),
    maxrateKbps: output.any("bitrate_cap", "max_video_bitrate").number(),
    fps: output.at("frame_rate").number(),
    profile: output.at("h264_profile").text(),
    level: level === undefined ? undefined : Math.round(level * 10),
    // Zencoder encodes in two passes only on request: `one_pass: false`.
    twoPass: output.at("one_pass").text() === "false" && kbps !== undefined,
  };
}

const audioOf = (output: Reader): AudioParts => ({
  codec: output.at("audio_codec").text(),
  kbps: output.at("audio_bitrate").number(),
  sampleRate: output.at("audio_sample_rate").number(),
  channels: output.at("audio_channels").number(),
});

/** Parses `1:02:03.5` or `90` to seconds. */
const secondsOf = (text: string | undefined): number | undefined => {
  const parts = text?.split(":").map(Number) ?? [];
  const seconds = parts.reduce((sum, part) => sum * 60 + part, 0);
  return parts.length === 0 || !Number.isFinite(seconds) ? undefined : seconds;
};

function clipOf(draft: Draft, output: Reader): Json {
  const offset = secondsOf(output.at("start_clip").text());
  const duration = secondsOf(output.at("clip_length").text());
  if (offset === undefined && output.at("start_clip").exists) draft.lost(`${output.path}.start_clip`, "is not a time");
  return {
    ...(offset === undefined || offset <= 0 ? {} : { offset }),
    ...(duration === undefined || duration <= 0 ? {} : { duration }),
  };
}

function filtersOf(draft: Draft, output: Reader): Json {
  const aspect = output.at("aspect_mode").text();
  const deinterlace = output.at("deinterlace").text();
  const rotate = output.at("rotate").text() ?? "";
  const rotation = Object.hasOwn(ROTATIONS, rotate) ? ROTATIONS[rotate] : undefined;
  if (rotate === "0") draft.lost(`${output.path}.rotate`, "rotated sources are rotated for display");
  return {
    ...(aspect === "crop" || aspect === "stretch" ? { fit: aspect } : {}),
    ...(deinterlace === "on" || deinterlace === "detect" ? { deinterlace: true } : {}),
    ...(output.at("skip_captions").flag() ? { captions: "drop" } : {}),
    ...rotation,
    ...watermarkOf(output),
  };
}

function watermarkOf(output: Reader): Json {
  const [first] = output.any("watermarks", "watermark").list();
  const url = first?.at("url").text();
  if (first === undefined || url === undefined || !/^https?:/i.test(url)) return {};
  const isFar = (side: string): boolean => {
    const text = first.at(side).text();
    return text === undefined || text.startsWith("-");
  };
  return { watermark: { url, position: `${isFar("y") ? "bottom" : "top"}${isFar("x") ? "right" : "left"}` } };
}

function optionsOf(draft: Draft, output: Reader): void {
  if (output.at("public").flag()) draft.storageOptions({ acl: "public-read" });
  if (output.at("rrs").flag()) draft.storageOptions({ storage_class: "REDUCED_REDUNDANCY" });
}

/** Adds the image outputs of `thumbnails`, which is an object or a list. */
export function thumbnailsOf(draft: Draft, output: Reader): void {
  for (const images of output.at("thumbnails").list()) {
    if (!images.isObject) continue;
    const container = images.at("format").text() ?? "png";
    const { width, height } = sizeOf(images);
    const lost = (part: string, message: string): void => draft.lost(`${images.path}: ${part}`, message);
    const base =
      images
        .at("base_url")
        .text()
        ?.replace(/(?<!\/)\/+$/, "") ?? "thumbnails";
    const name = images
      .at("filename")
      .text()
      ?.replaceAll(/\{\{number[^{}]*\}\}/g, "%04d");
    const counted = name === undefined ? `${images.at("prefix").text() ?? "frame"}_%04d` : withCounter(name);
    const file = `${base}/${counted}.${container}`;
    const path = /^[a-z0-9+]+:\/\//i.test(file) ? draft.outputPath(file, images.path) : file;
    const params = { key: images.at("label").text(), path, ...selectionOf(images), ...fitOf(width, height) };
    draft.output(imageKey(container, width, height, lost), params, images.path);
    draft.note("changed", images.path, "the images of an output are numbered from 1");
  }
}

const withCounter = (name: string): string => (/%\d*d/.test(name) ? name : `${name}_%04d`);
const fitOf = (width: number | undefined, height: number | undefined): Json =>
  width !== undefined && height !== undefined ? { fit: "pad" } : {};

function selectionOf(images: Reader): Json {
  const times = images
    .at("times")
    .list()
    .flatMap((time) => time.number() ?? []);
  const interval = images.at("interval").number();
  const number = images.at("number").number();
  if (times.length > 0) return { offsets: times.slice(0, 100) };
  if (interval !== undefined && interval > 0) return { interval };
  return { number: Math.min(100, Math.max(1, Math.round(number ?? 1))) };
}
