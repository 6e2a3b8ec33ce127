// The syntax of HLS playlists (RFC 8216 §4.2, §7).

type Value = string | number | null;

/** A tag with its attributes. Null attributes are left out. Pass text that needs quotes as `quoted`. */
export function tag(name: string, attributes: Readonly<Record<string, Value>>): string {
  const list = Object.entries(attributes).flatMap(([key, value]) => (value === null ? [] : [`${key}=${value}`]));
  return `#${name}:${list.join(",")}`;
}

/**
 * Text in quotes, in Unicode normalization form C (RFC 8216 §4.1).
 * @throws Error if the text contains a quote or a control character, because HLS cannot escape them
 */
export function quoted(text: string): string {
  if (/["\p{Cc}]/u.test(text)) throw new Error(`HLS cannot quote ${JSON.stringify(text)}`);
  return `"${text.normalize("NFC")}"`;
}

/** Players start at the start of a growing playlist, not near its end (RFC 8216 §4.3.5.2). */
export const FROM_START = tag("EXT-X-START", { "TIME-OFFSET": 0 });

/** The text of a playlist with these lines. Its version is the lowest version with all their features. */
export function playlistText(lines: readonly string[]): string {
  const version = versionOf(lines);
  const head = ["#EXTM3U", ...(version > 1 ? [`#EXT-X-VERSION:${version}`] : [])];
  return `${[...head, ...lines].join("\n")}\n`;
}

/**
 * RFC 8216 §7. Players of version 1 ignore renditions and would play no audio, so renditions require version 4, as §7
 * recommends. EXT-X-MAP requires version 5 in keyframe playlists, and 6 in all other playlists.
 */
function versionOf(lines: readonly string[]): number {
  const has = (pattern: RegExp): boolean => lines.some((line) => pattern.test(line));
  return Math.max(
    1,
    has(/^#EXTINF:\d+\.\d/) ? 3 : 1,
    has(/^#EXT-X-(BYTERANGE:|I-FRAMES-ONLY$|MEDIA:)/) ? 4 : 1,
    has(/^#EXT-X-MAP:/) ? (has(/^#EXT-X-I-FRAMES-ONLY$/) ? 5 : 6) : 1,
  );
}
