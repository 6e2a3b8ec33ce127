// The words and numbers of the format grammar (api-v2 §4): preset sizes, frame rates, limits.
import type { FrameSize } from "./format-spec.ts";

export type Resolution = {
  size: FrameSize;
  /** The bitrate that comes with a preset when nothing else is said of it; null for a plain size. */
  bitrateKbps: number | null;
};

/** What no resolution at all means. */
export const AUTOMATIC_RESOLUTION: Resolution = { size: { width: null, height: null }, bitrateKbps: null };

/** Preset names: size and default bitrate. A width makes the size a box into which the picture is fitted (api-v2 §4). */
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

/** Frame rates of the grammar and the exact fraction each stands for; `0fps` is the source's own. */
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

export const CHANNELS = ["mono", "stereo", "multi"] as const;

/** Largest frame side: what H.264 level 6.2 and the service's memory limits allow. */
export const MAX_SIDE = 8192;
/** Widest picture that moves (gif, webp_anim): each of its frames is a picture of its own (api-v2 §5). */
export const MAX_MOVING_WIDTH = 500;
/** Below this nothing can be seen: what is written so is meant as a size, such as `4k`. */
export const MIN_VIDEO_KBPS = 10;
export const MAX_VIDEO_KBPS = 199_999;
export const MAX_AUDIO_KBPS = 512;
