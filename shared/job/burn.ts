// Specification of captions that are drawn into the frames.
import * as z from "zod";

export const BURN_POSITIONS = ["bottom", "top"] as const;

/** The name of a font, as nodes report it and requests name it. */
export const FONT_NAME = /^[A-Za-z0-9][A-Za-z0-9 ._+-]{0,79}$/;
export const FontName = z.string().regex(FONT_NAME, "not the name of a font");

/** The look of text. Lengths are percentages of the frame's height. Colors are `#rrggbb` or `#rrggbbaa`. */
export const CaptionStyle = z.object({
  /** Null: the packaged font. */
  font: z.union([z.object({ name: FontName }), z.object({ url: z.string() })]).nullable(),
  size: z.number(),
  color: z.string(),
  outlineColor: z.string(),
  /** Null: none. */
  background: z.string().nullable(),
  outline: z.number(),
  position: z.enum(BURN_POSITIONS),
  margin: z.number(),
});
export type CaptionStyle = z.infer<typeof CaptionStyle>;

export const DEFAULT_STYLE: CaptionStyle = {
  font: null,
  size: 5.3,
  color: "#ffffff",
  outlineColor: "#000000",
  background: null,
  outline: 0.25,
  position: "bottom",
  margin: 5,
};

/** Images of captions: the canvas has this shape in square pixels. The first is shown at `startMs` of the source. */
export const BurnBitmaps = z.object({ width: z.number(), height: z.number(), startMs: z.number() });
export type BurnBitmaps = z.infer<typeof BurnBitmaps>;

/** Captions of a file or of the input, drawn into all frames. It has either `url` or `from`. */
export const BurnSpec = z.object({
  url: z.string().exactOptional(),
  /** Number of a subtitle track of the input, from 1, its language, a channel of closed captions, or `speech`. */
  from: z.union([z.int(), z.string()]).exactOptional(),
  /** A BCP 47 tag: the language of the speech. */
  language: z.string().exactOptional(),
  /** Set if the output has no captions when the input lacks the track. */
  optional: z.literal(true).exactOptional(),
  /** Added to the times of all captions. */
  shiftMs: z.number(),
  /** True if styles and positions of the file count. */
  keepsStyle: z.boolean(),
  style: CaptionStyle,
  /** Set by the node if the track is made of images. */
  bitmaps: BurnBitmaps.exactOptional(),
});
export type BurnSpec = z.infer<typeof BurnSpec>;

/** True if the captions have another style than by default. */
export const isStyled = ({ keepsStyle, style }: BurnSpec): boolean =>
  !keepsStyle || Object.entries(DEFAULT_STYLE).some(([name, value]) => style[name as keyof CaptionStyle] !== value);
