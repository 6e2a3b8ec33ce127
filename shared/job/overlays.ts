// Specification of overlays: images, text and timecodes that are drawn into the frames.
import * as z from "zod";
import { FontName } from "./burn.ts";

const ROWS = ["topleft", "top", "topright", "left", "center", "right"] as const;
export const ANCHORS = [...ROWS, "bottomleft", "bottom", "bottomright"] as const;
export type Anchor = (typeof ANCHORS)[number];

/** Value of `timecode` that stands for the timecode of the source. */
export const SOURCE_TIMECODE = "source";
/** Drop-frame timecode has a semicolon before its frames. */
export const TIMECODE = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d)([:;])(\d\d)$/;

/** Lengths are percentages of the active area: `x` and `width` of its width, others of its height. */
const placed = {
  anchor: z.enum(ANCHORS),
  /** Distance from the edge of the anchor; without such an edge, from the center to the right and down. */
  x: z.number(),
  y: z.number(),
  opacity: z.number(),
  /** Times of the output; negative: from its end. */
  startMs: z.number(),
  /** Null: the end of the output. */
  endMs: z.number().nullable(),
  /** Length of the fade after the start, and of the fade before `endMs`. */
  fadeMs: z.number(),
};

export const ImageOverlay = z.object({
  ...placed,
  url: z.string(),
  width: z.number().nullable(),
  height: z.number().nullable(),
});
export type ImageOverlay = z.infer<typeof ImageOverlay>;

export const TextOverlay = z.object({
  ...placed,
  text: z.string(),
  size: z.number(),
  color: z.string(),
  background: z.string().nullable(),
  font: FontName.nullable(),
});
export type TextOverlay = z.infer<typeof TextOverlay>;

/** The timecode of the first frame of the output, or `SOURCE_TIMECODE`. */
export const TimecodeOverlay = z.object({ ...placed, timecode: z.string(), size: z.number() });
export type TimecodeOverlay = z.infer<typeof TimecodeOverlay>;

export const OverlaySpec = z.union([ImageOverlay, TextOverlay, TimecodeOverlay]);
export type OverlaySpec = z.infer<typeof OverlaySpec>;

/** True if captions or overlays change between frames of the source, so that no frame may be shown for long. */
export const changesInTime = ({ burn, overlays = [] }: WithDrawings): boolean =>
  burn !== undefined ||
  overlays.some(
    (overlay) => "timecode" in overlay || overlay.startMs !== 0 || overlay.endMs !== null || overlay.fadeMs > 0,
  );

type WithDrawings = { readonly burn?: unknown; readonly overlays?: readonly OverlaySpec[] };

/** The texts of overlays, with their positions among the overlays. */
export const textOverlays = (overlays: readonly OverlaySpec[] = []): { at: number; overlay: TextOverlay }[] =>
  overlays.flatMap((overlay, at) => ("text" in overlay ? [{ at, overlay }] : []));
