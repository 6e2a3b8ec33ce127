// The parameter `burn`: captions that are drawn into the frames.
import * as z from "zod";
import { BURN_POSITIONS, type BurnSpec, type CaptionStyle, DEFAULT_STYLE, FONT_NAME } from "../../job/burn.ts";
import { SPEECH } from "../../job/speech.ts";
import type { AllowPrivate } from "../../network/address-policy.ts";
import { flag, oneOf, PARAMETERS } from "../../parameters/parameter.ts";
import { ok, type Result } from "../../result.ts";
import { strictObject } from "../../strict-object.ts";
import { invalid } from "../parse-section.ts";
import { allowedUrl, url } from "./output-params.ts";
import { language, parseTextSource, textSource } from "./subtitles.ts";

/** Percentages of the frame's height. */
const SIZE = { min: 1, max: 20 };
const OUTLINE = { min: 0, max: 2 };
const MARGIN = { min: 0, max: 45 };

type Bounds = { readonly min: number; readonly max: number };
export const percent = ({ min, max }: Bounds) =>
  z.number("must be a number of percent").min(min, `must be ${min} or more`).max(max, `must be ${max} or less`);
const ofHeight = (bounds: Bounds, usual: number, what: string) =>
  percent(bounds).default(usual).describe(`${what}, in % of the frame's height: ${bounds.min} to ${bounds.max}`);

export const color = z
  .string("must be a color, such as #ffffff")
  .regex(/^#[0-9a-f]{6}(?:[0-9a-f]{2})?$/i, "must be a color such as #ffffff, or #ffffff80 with opacity")
  .transform((text) => text.toLowerCase());

const FONT_RULE = "must be the name of a font, or an object with the `url` of a TTF or OTF file";

export const burn = strictObject({
  ...textSource,
  url: textSource.url
    .clone()
    .register(PARAMETERS, { label: "Burnt-in captions", example: "https://example.com/en.vtt" }),
  from: textSource.from
    .clone()
    .register(PARAMETERS, {
      label: "Captions of the source",
      example: "en",
      help: "Instead of a file: a language, or speech",
    }),
  language: language.describe('BCP 47 tag of the speech, with `"from": "speech"`; found by the model by default'),
  font: z
    .union(
      [
        z.string().regex(FONT_NAME, FONT_RULE),
        strictObject({ url: url.describe("The http or https URL of a TTF or OTF file, up to 20 MB") }),
      ],
      FONT_RULE,
    )
    .optional()
    .describe("A font of the nodes, which `GET /v2/fonts` lists, or a font file; Noto Sans by default"),
  size: ofHeight(SIZE, DEFAULT_STYLE.size, "Size of the text"),
  color: color.default(DEFAULT_STYLE.color).describe("Color of the text, such as #ffffff or #ffffff80"),
  outline_color: color.default(DEFAULT_STYLE.outlineColor).describe("Color of the outline"),
  background: color.optional().describe("Color of a box behind the text; none by default"),
  outline: ofHeight(OUTLINE, DEFAULT_STYLE.outline, "Width of the outline"),
  position: oneOf(BURN_POSITIONS).default(DEFAULT_STYLE.position).register(PARAMETERS, { label: "Their place" }),
  margin: ofHeight(MARGIN, DEFAULT_STYLE.margin, "Distance from the edge"),
  keep_style: flag.default(true).describe("Keep the styles of ASS files, and the positions and colors of other files"),
})
  .optional()
  .describe("Captions of a file or of the input, drawn into the frames")
  .register(PARAMETERS, { changesVideo: true, cli: false });

type BurnParam = z.infer<typeof burn>;

/** Returns the captions as outputs store them; an empty object without the parameter. Rejects URLs not allowed. */
export function parseBurn(value: BurnParam, field: string, allow: AllowPrivate): Result<{ readonly burn?: BurnSpec }> {
  if (value === undefined) return ok({});
  const { url, from, language, optional, shift, keep_style: keepsStyle, background = null, ...given } = value;
  if (language !== undefined && from !== SPEECH) {
    return invalid("output_param_not_valid", `\`${field}.burn.language\` is only possible with \`"from": "speech"\``);
  }
  const source = parseTextSource({ url, from, language, optional, shift }, `${field}.burn`, allow);
  if (!source.ok) return source;
  const font = parseFont(given.font, `${field}.burn.font.url`, allow);
  if (!font.ok) return font;
  const { size, color, outline_color: outlineColor, outline, position, margin } = given;
  const style = { font: font.value, size, color, outlineColor, background, outline, position, margin };
  return ok({ burn: { shiftMs: 0, ...source.value, keepsStyle, style } });
}

function parseFont(
  font: NonNullable<BurnParam>["font"],
  field: string,
  allow: AllowPrivate,
): Result<CaptionStyle["font"]> {
  if (font === undefined) return ok(null);
  if (typeof font === "string") return ok({ name: font });
  const file = allowedUrl(font.url, field, allow);
  return file.ok ? ok({ url: file.value }) : file;
}
