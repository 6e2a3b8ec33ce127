// How the index stores a job's view: in a large one, what the URLs of an output have in common is stored once. Otherwise
// 30 outputs of 100 images with long paths need 2.5 MB, and D1 accepts 2 MB a row (D1 limits).
import * as z from "zod";

/** Smaller views stay as they are. */
const PACK_FROM_CHARS = 16_000;
const START = '{"packed":';

const Urls = z.array(z.string()).min(2);
const PackedUrls = z.object({ prefix: z.string(), suffix: z.string(), middles: z.array(z.string()) });

/** The stored form of a view in JSON. */
export function packView(view: string): string {
  if (view.length < PACK_FROM_CHARS) return view;
  const packed = JSON.stringify(JSON.parse(view), (name, value: unknown) => {
    const urls = name === "urls" ? Urls.safeParse(value) : null;
    return urls?.success ? packUrls(urls.data) : value;
  });
  return `${START}${packed}}`;
}

/** The view in JSON as it was before `packView`. Throws on text that is neither. */
export function unpackView(stored: string): string {
  if (!stored.startsWith(START)) return stored;
  const view: unknown = JSON.parse(stored.slice(START.length, -1), (name, value: unknown) => {
    const urls = name === "urls" ? PackedUrls.safeParse(value) : null;
    return urls?.success ? unpackUrls(urls.data) : value;
  });
  return JSON.stringify(view);
}

function packUrls(urls: readonly string[]): z.infer<typeof PackedUrls> {
  const [first = "", ...others] = urls;
  let prefix = first.length;
  let suffix = first.length;
  for (const url of others) {
    prefix = Math.min(
      prefix,
      sharedChars(first, url, (text, at) => text.charCodeAt(at)),
    );
    suffix = Math.min(
      suffix,
      sharedChars(first, url, (text, at) => text.charCodeAt(text.length - 1 - at)),
    );
  }
  // Both may cover the same characters of the shortest URL.
  suffix = Math.min(suffix, Math.min(...urls.map((url) => url.length)) - prefix);
  const middles = urls.map((url) => url.slice(prefix, url.length - suffix));
  return { prefix: first.slice(0, prefix), suffix: first.slice(first.length - suffix), middles };
}

const unpackUrls = ({ prefix, suffix, middles }: z.infer<typeof PackedUrls>): string[] =>
  middles.map((middle) => prefix + middle + suffix);

/** How many characters two texts share from one end; NaN, beyond a text's end, equals nothing. */
function sharedChars(one: string, other: string, charAt: (text: string, at: number) => number): number {
  let count = 0;
  while (charAt(one, count) === charAt(other, count)) count++;
  return count;
}
