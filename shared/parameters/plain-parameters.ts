// Parameters whose values are stored and planned as they are requested (api-v2 §5). The other parameters are in
// request/outputs/, and their stored form in job/.
import * as z from "zod";
import { crop, cropFocus } from "./crop.ts";
import { flag, oneOf, orElse, PARAMETERS, whole } from "./parameter.ts";

const TRANSPOSE_RULE = "must be 0 to 3, not an angle: 1 is 90° clockwise, 2 is 90° counterclockwise";
const COLOR_RULE = "must be a color such as #101820";

/** Parameters of images and of video. */
export const frameParameters = {
  fit: orElse(oneOf(["pad", "crop", "blur", "stretch"]), "pad")
    .describe(
      "How to fit video of another aspect ratio into the output size: pad (default), crop, blur (a blurred copy in " +
        "place of bars) or stretch",
    )
    .register(PARAMETERS, { label: "Other aspect ratios", changesVideo: true }),
  pad_color: z
    .string(COLOR_RULE)
    .regex(/^#[0-9a-f]{6}$/i, COLOR_RULE)
    .transform((color) => color.toLowerCase())
    .optional()
    .describe("Color of the bars of `fit: pad`; black by default")
    .register(PARAMETERS, { label: "Color of the bars", example: "#101820", changesVideo: true }),
  crop,
  crop_focus: cropFocus,
  /** With ffmpeg's numbers. */
  transpose: z
    .int(TRANSPOSE_RULE)
    .min(0, TRANSPOSE_RULE)
    .max(3, TRANSPOSE_RULE)
    .optional()
    .describe(
      "Rotation by 90°: 0 counterclockwise and flipped, 1 clockwise, 2 counterclockwise, 3 clockwise and flipped",
    )
    .register(PARAMETERS, {
      label: "Rotate",
      help: "1: 90° clockwise, 2: counterclockwise; 0 and 3 flip, too",
      changesVideo: true,
    }),
  vflip: orElse(flag, false)
    .describe("Flip vertically")
    .register(PARAMETERS, { label: "Flip vertically", changesVideo: true }),
  hflip: orElse(flag, false)
    .describe("Flip horizontally")
    .register(PARAMETERS, { label: "Flip horizontally", changesVideo: true }),
};

const captions = oneOf(["keep", "drop"])
  .default("keep")
  .describe(
    "Closed captions inside of the input's video (CEA-608 and CEA-708): keep (default) copies them where the encoder " +
      "supports it, and announces them in streams",
  )
  .register(PARAMETERS, { label: "Closed captions in the video", changesVideo: true });

/** Parameters of files with video, audio or both. */
export const videoParameters = {
  deinterlace: orElse(flag, false)
    .describe("Deinterlace interlaced video")
    .register(PARAMETERS, { label: "Deinterlace", changesVideo: true }),
  captions,
};

export const imageParameters = {
  square: flag.default(false).describe("Crop to the center square").register(PARAMETERS, { label: "Square" }),
  blur: whole(1, 5).optional().describe("Blur strength, 1 to 5").register(PARAMETERS, { label: "Blur" }),
};

export const streamParameters = {
  crop,
  fit: oneOf(["blur"])
    .optional()
    .describe("blur: a blurred copy fills the frames of another shape; all variants with video need two sides")
    .register(PARAMETERS, { label: "Other aspect ratios", changesVideo: true }),
  captions,
  thumbnails: flag
    .default(false)
    .describe(
      "Create sprite sheets of thumbnails for the seek bar of players, and a WebVTT file that locates each thumbnail",
    )
    .register(PARAMETERS, { label: "Thumbnails for seek bars" }),
};
