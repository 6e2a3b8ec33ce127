// Presets of an account, as `aws elastictranscoder read-preset` prints them.
import type { AudioParts, VideoParts } from "../format-key.ts";
import type { Reader } from "../reader.ts";
import type { Preset, Thumbnails } from "./presets.ts";

/** A number, unless it is `auto`. */
const amount = (value: Reader): number | undefined => {
  const text = value.text();
  return text === undefined || /^auto$/i.test(text) ? undefined : value.number();
};

export function readPreset(preset: Reader): Preset {
  const video = preset.at("Video");
  const audio = preset.at("Audio");
  const sizing = video.at("SizingPolicy").text();
  const isFilled = sizing === "Fill" || sizing === "ShrinkToFill";
  const isPadded = video.at("PaddingPolicy").text() === "Pad";
  const thumbnails = thumbnailsOf(preset.at("Thumbnails"));
  return {
    container: preset.at("Container").text() ?? "mp4",
    video: video.exists ? videoOf(video) : null,
    audio: audio.exists ? audioOf(audio) : null,
    ...(isFilled ? { fit: "crop" } : isPadded ? { fit: "pad" } : {}),
    ...(thumbnails === null ? {} : { thumbnails }),
  };
}

function videoOf(video: Reader): VideoParts {
  const options = video.at("CodecOptions");
  const level = options.at("Level").number();
  const [, width, height] = /^(\d+)x(\d+)$/.exec(video.at("Resolution").text() ?? "") ?? [];
  return {
    codec: video.at("Codec").text(),
    width: amount(video.at("MaxWidth")) ?? (Number(width) || undefined),
    height: amount(video.at("MaxHeight")) ?? (Number(height) || undefined),
    kbps: amount(video.at("BitRate")),
    maxrateKbps: options.at("MaxBitRate").number(),
    fps: amount(video.at("FrameRate")),
    profile: options.at("Profile").text(),
    level: level === undefined ? undefined : Math.round(level * 10),
  };
}

const audioOf = (audio: Reader): AudioParts => ({
  codec: audio.at("Codec").text(),
  kbps: amount(audio.at("BitRate")),
  sampleRate: amount(audio.at("SampleRate")),
  channels: amount(audio.at("Channels")),
});

function thumbnailsOf(images: Reader): Thumbnails | null {
  if (!images.exists) return null;
  const width = amount(images.at("MaxWidth"));
  const height = amount(images.at("MaxHeight"));
  return {
    format: images.at("Format").text() ?? "png",
    interval: images.at("Interval").number() ?? 60,
    // Images keep their aspect ratio; with both sides they would be padded.
    ...(width === undefined ? { height } : { width }),
  };
}
