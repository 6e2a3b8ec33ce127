// Parts of ffmpeg, other than encoders, that plans use and that not every build has.

/** By ffmpeg's names. Those without which nothing at all works (`scale`, `format`, `split`) are taken for granted. */
export const OPTIONAL_FILTERS = [
  "fps",
  "crop",
  "pad",
  "tpad",
  "transpose",
  "hflip",
  "vflip",
  "overlay",
  "yadif",
  "bwdif",
  "gblur",
  "boxblur",
  "tile",
  "thumbnail",
  "palettegen",
  "paletteuse",
  "colorspace",
  "zscale",
  "tonemap",
  "hwupload",
] as const;

/** Younger than the oldest ffmpeg that is used; `avif` came with 5.1. */
export const OPTIONAL_MUXERS = ["avif"] as const;
