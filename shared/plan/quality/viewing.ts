// The size of a video on the screen when its quality is measured.
import type { Size } from "../source/frame-size.ts";

/** A screen that shows a video as large as it fits, and VMAF's model for that screen. */
export type Viewing = {
  /** The video's size on the screen, in pixels. Both sides are even. */
  readonly size: Size;
  readonly model: VmafModel;
};

/**
 * libvmaf's built-in models. The first is for a television of 1920×1080 pixels at a distance of three times its height.
 * The second is for 3840×2160 pixels at half of that distance
 * (https://github.com/Netflix/vmaf/blob/master/resource/doc/models.md).
 */
export const VMAF_MODELS = ["vmaf_v0.6.1", "vmaf_4k_v0.6.1"] as const;
export type VmafModel = (typeof VMAF_MODELS)[number];

/** Videos with more pixels than this are for screens of 3840×2160. Videos of 2560×1440 are not. */
const LARGEST_FOR_HD = 2560 * 1440;

/** Long and short side, in pixels. */
const HD = [1920, 1080] as const;
const UHD = [3840, 2160] as const;

/**
 * Size and model for a video. VMAF's models were trained with everything shown on a whole screen, so smaller videos are
 * scaled up to it. The screen is rotated for portrait videos. `activeArea` is the frame without padding.
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
 * Size to which the source is prepared, before it is scaled to its size on the screen: its own size if that is smaller.
 * Colors are converted at this size, as in the encode. `shown` is the shown part of the source.
 */
export function preparedSize(activeArea: Size, { size }: Viewing): Size {
  const factor = Math.min(1, Math.sqrt((activeArea.width * activeArea.height) / (size.width * size.height)));
  return factor > NEARLY ? size : scaled(size, factor);
}

/** Frames that are hardly smaller than on the screen are scaled once. */
const NEARLY = 0.95;

/** Scales a size, and rounds to even sides. */
const scaled = ({ width, height }: Size, factor: number): Size => ({
  width: Math.max(2, 2 * Math.round((width * factor) / 2)),
  height: Math.max(2, 2 * Math.round((height * factor) / 2)),
});
