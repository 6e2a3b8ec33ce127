// Preset sizes, frame rates, limits and the default ladder of formats (api-v2 §4 and §5).
import type { FrameSize } from "./format-spec.ts";

export type Resolution = {
  size: FrameSize;
  /** Default bitrate of a preset; null for a plain size. */
  bitrateKbps: number | null;
};

/** Resolution of a format without a resolution. */
export const AUTOMATIC_RESOLUTION: Resolution = { size: { width: null, height: null }, bitrateKbps: null };

/** Preset names: size and default bitrate. Video is fitted into sizes with a width (api-v2 §4). */
export const PRESETS: ReadonlyMap<string, Resolution> = new Map(
  Object.entries({
    "240p": { size: { width: null, height: 240 }, bitrateKbps: 500 },
    "360p": { size: { width: null, height: 360 }, bitrateKbps: 800 },
    "480p": { size: { width: null, height: 480 }, bitrateKbps: 1000 },
    "540p": { size: { width: null, height: 540 }, bitrateKbps: 1000 },
    "576p": { size: { width: null, height: 576 }, bitrateKbps: 1000 },
    "720p": { size: { width: 1280, height: 720 }, bitrateKbps: 2000 },
    "1080p": { size: { width: 1920, height: 1080 }, bitrateKbps: 4000 },
    "1440p": { size: { width: 2560, height: 1440 }, bitrateKbps: 6000 },
    "2160p": { size: { width: 3840, height: 2160 }, bitrateKbps: 8000 },
  }),
);

/**
 * Peak bitrate for a mean bitrate: enough bits for hard scenes, and still no more than a connection sized for the mean
 * can stream.
 */
export const peakKbps = (meanKbps: number): number => Math.round(meanKbps * 1.5);

/** Supported frame rates and their exact fractions. `0fps` is the source's frame rate. */
export const FRAME_RATES: ReadonlyMap<string, string | null> = new Map([
  ["0", null],
  ["15", "15"],
  ["23.98", "24000/1001"],
  ["24", "24"],
  ["25", "25"],
  ["29.97", "30000/1001"],
  ["30", "30"],
  ["50", "50"],
  ["60", "60"],
]);

/** Largest frame side: the limit of H.264 level 6.2 and of the service's memory. */
export const MAX_SIDE = 8192;
/** Maximum width of animated images (gif, webp_anim), which store every frame as an image (api-v2 §5). */
export const MAX_ANIMATED_WIDTH = 500;
/**
 * Range of requested VMAF: videos below MIN_VMAF look unpleasant, and no encoder reaches more than MAX_VMAF in all
 * scenes.
 */
export const MIN_VMAF = 70;
export const MAX_VMAF = 98;
/** Minimum video bitrate. Smaller values are useless as a bitrate and probably mean a size, such as `4k`. */
export const MIN_VIDEO_KBPS = 10;
export const MAX_VIDEO_KBPS = 199_999;
export const MAX_AUDIO_KBPS = 512;

/**
 * Default variants of an HTTP stream, in ascending order, audio first. The planner omits variants larger than the
 * source.
 */
export const DEFAULT_LADDER: readonly string[] = [
  "mp4:x:64k",
  "mp4:240p::quality=4,maxrate=400k,vprofile=high",
  "mp4:360p::quality=4,maxrate=1000k,vprofile=high",
  "mp4:480p::quality=4,maxrate=1500k,vprofile=high",
  "mp4:720p::quality=4,maxrate=2000k,vprofile=high",
  "mp4:1080p::quality=4,maxrate=4000k,vprofile=high",
  "mp4:2160p::quality=4,maxrate=8000k,vprofile=high",
];

/** Best step of `quality`, and the default for images. */
export const BEST_QUALITY = 5;
