// Finds the files of a stream: the references in HLS playlists, DASH manifests and WebVTT files of thumbnails.

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

/**
 * Returns the files of a static manifest with numbered segments, the kind that Copra makes
 * (encoder-node/package/dash/).
 */
function dashPaths(text: string): string[] {
  return elementsOf(text, "AdaptationSet").found.flatMap((set) => {
    const { found, rest } = elementsOf(set, "Representation");
    const shared = templateOf(rest);
    return found.flatMap((representation) => {
      const [, base] = /<BaseURL>([^<]*)<\/BaseURL>/.exec(representation) ?? [];
      if (base !== undefined) return [unescaped(base)];
      const template = templateOf(representation) ?? shared;
      return template ? filesOf(template, attribute(representation, "id")) : [];
    });
  });
}

const templateOf = (xml: string): string | null => elementsOf(xml, "SegmentTemplate").found[0] ?? null;

/**
 * Returns the elements with a name, and the text without them. Elements of this name must not nest. Linear in the
 * text's length.
 */
function elementsOf(xml: string, name: string): { readonly found: readonly string[]; readonly rest: string } {
  const [start, close] = [`<${name}`, `</${name}>`];
  const found: string[] = [];
  let rest = "";
  let at = 0;
  for (let from = xml.indexOf(start); from >= 0; from = xml.indexOf(start, from)) {
    if (!/[\s/>]/.test(xml.charAt(from + start.length))) {
      from += start.length;
      continue;
    }
    const tagEnd = xml.indexOf(">", from);
    const isEmpty = xml.charAt(tagEnd - 1) === "/";
    const closedAt = tagEnd < 0 || isEmpty ? tagEnd : xml.indexOf(close, tagEnd);
    if (closedAt < 0) break;
    const end = closedAt + (isEmpty ? 1 : close.length);
    found.push(xml.slice(from, end));
    rest += xml.slice(at, from);
    from = at = end;
  }
  return { found, rest: rest + xml.slice(at) };
}

/** Limit above the segments of a week of video, so that a broken manifest cannot fill the memory. */
const MAX_SEGMENTS = 400_000;

function filesOf(template: string, id: string): string[] {
  const first = Number(attribute(template, "startNumber") || 1);
  const last = attribute(template, "endNumber");
  const runs = template.match(/<S\s[^<>]*>/g) ?? [];
  const counted = runs.reduce((sum, run) => sum + Number(attribute(run, "r") || 0) + 1, 0);
  const count = Math.min(MAX_SEGMENTS, last === "" ? counted : Number(last) - first + 1);
  const initialization = attribute(template, "initialization");
  const media = attribute(template, "media");
  const segments = Array.from({ length: count }, (_, at) => fill(media, id, first + at));
  return [...(initialization === "" ? [] : [fill(initialization, id, 0)]), ...segments];
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

const attribute = (xml: string, name: string): string =>
  unescaped(new RegExp(`^<[^>]*?\\s${name}="([^"]*)"`).exec(xml)?.[1] ?? "");

const unescaped = (text: string): string =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&amp;", "&");
