// The parameters `crop` and `crop_focus`: the part of the source that an output shows.
import * as z from "zod";
import { strictObject } from "../strict-object.ts";
import { PARAMETERS } from "./parameter.ts";

const LENGTH_RULE = 'must be a whole number of pixels, or a percentage such as "12.5%"';
const length = z.union(
  [z.int().min(0, LENGTH_RULE), z.string().regex(/^\d{1,3}(?:\.\d{1,4})?%$/, LENGTH_RULE)],
  LENGTH_RULE,
);
type Length = z.infer<typeof length>;

/** Smallest side of a rectangle, in pixels of the displayed source. */
export const SMALLEST_CROP = 16;
/** Percentages with four digits may add up to a little more than 100. */
const WHOLE_PERCENT = 100.0001;

const SIDES = [
  ["x", "width"],
  ["y", "height"],
] as const;

export const crop = strictObject({
  x: length.default(0).register(PARAMETERS, { label: "Crop from the left", example: "12.5%", help: "Pixels or %" }),
  y: length.default(0).register(PARAMETERS, { label: "Crop from the top", example: "12.5%", help: "Pixels or %" }),
  width: length.clone().register(PARAMETERS, { label: "Cropped width", example: "75%", help: "Pixels or %" }),
  height: length.clone().register(PARAMETERS, { label: "Cropped height", example: "75%", help: "Pixels or %" }),
})
  .superRefine((rectangle, context) => {
    for (const [start, size] of SIDES) {
      const message = sideError(rectangle[start], rectangle[size]);
      if (message) context.addIssue({ code: "custom", path: [size], message });
    }
  })
  .optional()
  .describe(
    "The rectangle of the input that is shown, in pixels or percent of the displayed frame, before `transpose`: " +
      '{"x": 0, "y": "12.5%", "width": "100%", "height": "75%"}',
  )
  .register(PARAMETERS, { changesVideo: true, cli: false });
export type Crop = NonNullable<z.infer<typeof crop>>;

function sideError(start: Length, size: Length): string | null {
  if (typeof size === "number" ? size < SMALLEST_CROP : percentOf(size) === 0)
    return `must be ${SMALLEST_CROP} pixels or more`;
  return percentOf(start) + percentOf(size) > WHOLE_PERCENT ? "must end within 100% of the frame" : null;
}

const percentOf = (value: Length): number => (typeof value === "string" ? Number.parseFloat(value) : 0);

/** A length in pixels of a side of the frame. */
export const pixelsOf = (value: Length, side: number): number =>
  typeof value === "string" ? (percentOf(value) / 100) * side : value;

const FOCUS_RULE = "must be a number from 0 to 1";
const focus = z.number(FOCUS_RULE).min(0, FOCUS_RULE).max(1, FOCUS_RULE);

export const cropFocus = strictObject({
  x: focus.default(0.5).describe("0: the left edge, 1: the right edge").register(PARAMETERS, { label: "Focus across" }),
  y: focus.default(0.5).describe("0: the top edge, 1: the bottom edge").register(PARAMETERS, { label: "Focus down" }),
})
  .optional()
  .describe("The part that `fit: crop` and `square` keep, from 0 to 1; the center by default")
  .register(PARAMETERS, { changesVideo: true, cli: false });
