// How large a player shows a video when its quality is measured.
import type { Size } from "../source/frame-size.ts";

/** A screen on which a video is shown as large as it fits, and VMAF's model for it. */
export type Viewing = {
  /** The video's size on the screen, in pixels. Both sides are even. */
  readonly size: Size;
  readonly model: VmafModel;
};

/**
 * libvmaf's built-in models: for a television of 1920×1080 pixels at a distance of three times its height, and for one
 * of 3840×2160 at half of that (https://github.com/Netflix/vmaf/blob/master/resource/doc/models.md).
 */
export const VMAF_MODELS = ["vmaf_v0.6.1", "vmaf_4k_v0.6.1"] as const;
export type VmafModel = (typeof VMAF_MODELS)[number];

/** Videos with more pixels than this are for screens of 3840×2160: those of 2560×1440 are not. */
const LARGEST_FOR_HD = 2560 * 1440;

/** Long and short side, in pixels. */
const HD = [1920, 1080] as const;
const UHD = [3840, 2160] as const;

/**
 * VMAF's models were trained with everything shown on a whole screen, so smaller videos are scaled up to it. The screen
 * is turned for portrait videos. `activeArea` is the frame without padding.
 */
export function viewingOf(activeArea: Size): Viewing {
  const isLarge = activeArea.width * activeArea.height > LARGEST_FOR_HD;
  const [long, short] = isLarge ? UHD : HD;
  const isPortrait = activeArea.height > activeArea.width;
  const screen = isPortrait ? { width: short, height: long } : { width: long, height: short };
  const factor = Math.min(screen.width / activeArea.width, screen.height / activeArea.height);
  return { size: scaled(activeArea, factor), model: isLarge ? "vmaf_4k_v0.6.1" : "vmaf_v0.6.1" };
}

/**
 * The size at which the source is prepared, before it is scaled to its size on the screen: its own if that is smaller.
 * Colors are converted at this size, as they are when it is encoded. `shown` is the part of the source that is shown.
 */
export function preparedSize(shown: Size, { size }: Viewing): Size {
  const factor = Math.min(1, Math.sqrt((shown.width * shown.height) / (size.width * size.height)));
  return factor > NEARLY ? size : scaled(size, factor);
}

/** Frames that are hardly smaller than on the screen are scaled once. */
const NEARLY = 0.95;

/** To even sides. */
const scaled = ({ width, height }: Size, factor: number): Size => ({
  width: Math.max(2, 2 * Math.round((width * factor) / 2)),
  height: Math.max(2, 2 * Math.round((height * factor) / 2)),
});
