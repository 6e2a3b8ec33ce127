// The parameter `overlays`: images, text and timecodes that are drawn into the frames.
import * as z from "zod";
import { FONT_NAME } from "../../job/burn.ts";
import { ANCHORS, type OverlaySpec, SOURCE_TIMECODE, TIMECODE } from "../../job/overlays.ts";
import type { AllowPrivate } from "../../network/address-policy.ts";
import { oneOf, PARAMETERS } from "../../parameters/parameter.ts";
import { ok, type Result } from "../../result.ts";
import { strictObject } from "../../strict-object.ts";
import { color, percent } from "./burn.ts";
import { allowedUrl, seconds, url } from "./output-params.ts";

const MAX_OVERLAYS = 8;
const MAX_TEXT_CHARS = 500;
const MAX_FADE_SECONDS = 10;
const DEFAULT_TEXT_SIZE = 5;
/** Distance from the edges, as of a watermark. */
const DEFAULT_MARGIN = 2;

const share = (min: number, what: string) => percent({ min, max: 100 }).optional().describe(what);
const MAX_TIME = seconds.maxValue ?? 0;
const time = seconds.min(-MAX_TIME, `must be ${-MAX_TIME} or more`);

const members = {
  url: url
    .optional()
    .describe("The http or https URL of an image, as of `watermark`")
    .register(PARAMETERS, { label: "Overlay", example: "https://example.com/logo.png", help: "More are in the JSON" }),
  text: z
    .string("must be a string")
    .min(1, "must not be empty")
    .max(MAX_TEXT_CHARS, `must have at most ${MAX_TEXT_CHARS} characters`)
    .regex(/^(?:\P{Cc}|\n)*$/u, "must not contain control characters other than line feeds")
    .refine((text) => !/\{\{\s*input\./.test(text), "must not contain `{{ input.… }}`: only `if` has these values")
    .optional()
    .describe("Text instead of an image: 1 to 500 characters, in lines")
    .register(PARAMETERS, { label: "Overlaid text", example: "Draft", help: "Instead of an image" }),
  timecode: z
    .string("must be a string")
    .refine(
      (text) => text === SOURCE_TIMECODE || TIMECODE.test(text),
      "must be a timecode such as 01:00:00:00 (01:00:00;00 with drop frames), or source",
    )
    .optional()
    .describe("A timecode instead of an image: of the first frame, or `source`. The frame rate must be constant")
    .register(PARAMETERS, { label: "Overlaid timecode", example: "01:00:00:00", help: "Or source: of the input" }),
  anchor: oneOf(ANCHORS)
    .default("bottomright")
    .describe("The place from which `x` and `y` count")
    .register(PARAMETERS, { label: "Place of the overlay" }),
  x: share(0, "Distance from the left or right edge (2 by default), or from the center, in % of the width"),
  y: share(0, "Distance from the top or bottom edge (2 by default), or from the center, in % of the height"),
  width: share(0.1, "Width of the image, in % of the width; by default as of `watermark`").register(PARAMETERS, {
    label: "Width of the overlay",
    help: "% of the width",
  }),
  height: share(0.1, "Height of the image, in % of the height; by default it keeps the aspect ratio"),
  size: share(1, `Size of text and timecode, in % of the height; ${DEFAULT_TEXT_SIZE} by default`),
  color: color.optional().describe("Color of the text, such as #ffffff or #ffffff80"),
  background: color.optional().describe("Color of a box behind the text; none by default"),
  font: z
    .string("must be the name of a font")
    .regex(FONT_NAME, "must be the name of a font")
    .optional()
    .describe("A font of the nodes, which `GET /v2/fonts` lists; Noto Sans by default"),
  opacity: z
    .number("must be a number")
    .min(0, "must be 0 or more")
    .max(1, "must be 1 or less")
    .default(1)
    .describe("From 0, invisible, to 1")
    .register(PARAMETERS, { label: "Opacity of the overlay" }),
  start: time
    .default(0)
    .describe("Second of the output at which the overlay appears; negative: before its end")
    .register(PARAMETERS, { label: "Overlay from", help: "Seconds; negative: before the end" }),
  end: time
    .optional()
    .describe("Second of the output at which it disappears; negative: before its end")
    .register(PARAMETERS, { label: "Overlay until", help: "Seconds; negative: before the end" }),
  fade: seconds
    .min(0, "must be 0 or more")
    .max(MAX_FADE_SECONDS, `must be at most ${MAX_FADE_SECONDS} seconds`)
    .default(0)
    .describe("Seconds in which it fades in at `start`, and out at `end` if there is one"),
};

const SOURCES = ["url", "text", "timecode"] as const;
type Source = (typeof SOURCES)[number];
/** Members that not all kinds of overlays have. */
const OWN: ReadonlyMap<string, readonly Source[]> = new Map<string, readonly Source[]>([
  ...["width", "height"].map((name) => [name, ["url"]] as const),
  ...["color", "background", "font"].map((name) => [name, ["text"]] as const),
  ["size", ["text", "timecode"]],
]);

const overlay = strictObject(members).superRefine((given, context) => {
  const refuse = (path: string, message: string): void => context.addIssue({ code: "custom", path: [path], message });
  const [source = "url", second] = SOURCES.filter((name) => given[name] !== undefined);
  if (second) refuse(second, `is not allowed with \`${source}\`: an overlay has one of ${SOURCES.join(", ")}`);
  else if (given[source] === undefined) refuse(source, `is missing: an overlay has one of ${SOURCES.join(", ")}`);
  for (const [name, kinds] of OWN) {
    if (Object.hasOwn(given, name) && !kinds.includes(source))
      refuse(name, `is not allowed with \`${source}\`; it belongs to ${kinds.join(" and ")}`);
  }
  const { start, end, fade } = given;
  if (end === undefined || start < 0 !== end < 0) return;
  if (end <= start) refuse("end", "must be after `start`");
  else if (2 * fade > end - start) refuse("fade", "must be at most half of the time from `start` to `end`");
});
type Overlay = z.infer<typeof overlay>;

const LIST_RULE = `must be an overlay, or a list of 1 to ${MAX_OVERLAYS} overlays`;

export const overlays = z
  .union([z.array(overlay).min(1, LIST_RULE).max(MAX_OVERLAYS, LIST_RULE), overlay], LIST_RULE)
  .optional()
  .describe("Images, text and timecodes to draw on the frames, in this order, above `watermark` and `burn`")
  .register(PARAMETERS, { changesVideo: true, cli: false });

/** Returns the overlays as outputs store them; an empty object without the parameter. Rejects URLs not allowed. */
export function parseOverlays(
  value: z.infer<typeof overlays>,
  field: string,
  allow: AllowPrivate,
): Result<{ readonly overlays?: OverlaySpec[] }> {
  if (value === undefined) return ok({});
  const stored: OverlaySpec[] = [];
  for (const [at, given] of (Array.isArray(value) ? value : [value]).entries()) {
    const place = Array.isArray(value) ? `${field}.overlays.${at}` : `${field}.overlays`;
    const image = given.url === undefined ? null : allowedUrl(given.url, `${place}.url`, allow);
    if (image && !image.ok) return image;
    stored.push(storedOverlay(given, image?.value ?? ""));
  }
  return ok({ overlays: stored });
}

function storedOverlay(given: Overlay, imageUrl: string): OverlaySpec {
  const { anchor, opacity, start, end, fade, size = DEFAULT_TEXT_SIZE } = given;
  const isAcross = anchor.endsWith("left") || anchor.endsWith("right");
  const isDown = anchor.startsWith("top") || anchor.startsWith("bottom");
  const placed = {
    anchor,
    x: given.x ?? (isAcross ? DEFAULT_MARGIN : 0),
    y: given.y ?? (isDown ? DEFAULT_MARGIN : 0),
    opacity,
    startMs: Math.round(start * 1000),
    endMs: end === undefined ? null : Math.round(end * 1000),
    fadeMs: Math.round(fade * 1000),
  };
  if (given.timecode !== undefined) return { ...placed, timecode: given.timecode, size };
  if (given.text === undefined) {
    return { ...placed, url: imageUrl, width: given.width ?? null, height: given.height ?? null };
  }
  const { text, color: textColor = "#ffffff", background = null, font = null } = given;
  return { ...placed, text, size, color: textColor, background, font };
}
