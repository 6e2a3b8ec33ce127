// Finds the files of a stream: the references in HLS playlists, DASH manifests and WebVTT files of thumbnails.
import { XMLParser } from "fast-xml-parser";
import * as z from "zod";

/**
 * Returns the URLs that the text at `url` refers to, without duplicates. Other texts than playlists, manifests and
 * WebVTT have none.
 */
export function referencesOf(url: string, text: string): string[] {
  const kind = new URL(url).pathname.split(".").at(-1);
  const paths =
    kind === "m3u8" ? hlsPaths(text) : kind === "mpd" ? dashPaths(text) : kind === "vtt" ? vttPaths(text) : [];
  const urls = paths.filter((path) => URL.canParse(path, url)).map((path) => withoutFragment(new URL(path, url)));
  return [...new Set(urls)];
}

/** True if a file may refer to other files. */
export const hasReferences = (url: string): boolean => /\.(m3u8|mpd|vtt)$/.test(new URL(url).pathname);

function withoutFragment(url: URL): string {
  url.hash = "";
  return url.href;
}

/** Tags whose URI is a part of the stream (RFC 8216 §4.3). Keys are on the client's own server. */
const HLS_TAGS = /^#EXT-X-(?:MAP|MEDIA|I-FRAME-STREAM-INF):/;

function hlsPaths(text: string): string[] {
  return text.split(/\r?\n/).flatMap((line) => {
    if (line === "" || (line.startsWith("#") && !HLS_TAGS.test(line))) return [];
    if (!line.startsWith("#")) return [line.trim()];
    const [, uri] = /[:,]URI="([^"]*)"/.exec(line) ?? [];
    return uri === undefined ? [] : [uri];
  });
}

/** Cues of thumbnails: `sheet.jpg#xywh=0,0,160,90`. */
const vttPaths = (text: string): string[] => text.split(/\r?\n/).filter((line) => line.includes("#xywh="));

const number = z.coerce.number();
const Template = z.object({
  initialization: z.string().optional(),
  media: z.string().default(""),
  startNumber: number.default(1),
  endNumber: number.optional(),
  SegmentTimeline: z.object({ S: z.array(z.object({ r: number.default(0) })) }).optional(),
});
type Template = z.infer<typeof Template>;
const Representation = z.object({
  id: z.string().default(""),
  BaseURL: z.string().optional(),
  SegmentTemplate: Template.optional(),
});
const AdaptationSet = z.object({ SegmentTemplate: Template.optional(), Representation: z.array(Representation) });
const Manifest = z.object({ MPD: z.object({ Period: z.array(z.object({ AdaptationSet: z.array(AdaptationSet) })) }) });

const LISTS: readonly string[] = ["Period", "AdaptationSet", "Representation", "S"];

/**
 * Returns the files of a static manifest with numbered segments, the kind that Copra makes
 * (encoder-node/package/dash/). Another manifest has none.
 */
function dashPaths(text: string): string[] {
  const parsed = Manifest.safeParse(xmlOf(text));
  const sets = parsed.data?.MPD.Period.flatMap((period) => period.AdaptationSet) ?? [];
  return sets.flatMap(({ SegmentTemplate: shared, Representation: representations }) =>
    representations.flatMap(({ id, BaseURL: base, SegmentTemplate: template = shared }) =>
      base !== undefined ? [base] : template ? filesOf(template, id) : [],
    ),
  );
}

function xmlOf(text: string): unknown {
  const options = { ignoreAttributes: false, attributeNamePrefix: "", parseTagValue: false };
  try {
    return new XMLParser({ ...options, isArray: (name: string) => LISTS.includes(name) }).parse(text);
  } catch {
    // It is no XML.
    return null;
  }
}

/** Limit above the segments of a week of video, so that a broken manifest cannot fill the memory. */
const MAX_SEGMENTS = 400_000;

function filesOf(template: Template, id: string): string[] {
  const { initialization, media, startNumber: first, endNumber: last, SegmentTimeline: timeline } = template;
  const counted = (timeline?.S ?? []).reduce((sum, { r }) => sum + r + 1, 0);
  const count = Math.max(0, Math.min(MAX_SEGMENTS, last === undefined ? counted : last - first + 1));
  const segments = Array.from({ length: count }, (_, at) => fill(media, id, first + at));
  return [...(initialization === undefined ? [] : [fill(initialization, id, 0)]), ...segments];
}

/** Limit above the digits of any segment number: a wider number would fill the memory. */
const MAX_DIGITS = 20;

/** ISO 23009-1 §5.3.9.4.4. */
const fill = (template: string, id: string, number: number): string =>
  template
    .replaceAll("$RepresentationID$", id)
    .replaceAll(/\$Number(?:%0(\d{1,2})d)?\$/g, (_, digits = "1") =>
      String(number).padStart(Math.min(MAX_DIGITS, Number(digits)), "0"),
    );
