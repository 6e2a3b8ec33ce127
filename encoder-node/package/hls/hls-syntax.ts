// How lines of HLS playlists are written (RFC 8216 §4.2, §7).

type Value = string | number | null;

/** A tag with its attributes; those that are null are left out. Text that needs quotes comes `quoted`. */
export function tag(name: string, attributes: Readonly<Record<string, Value>>): string {
  const list = Object.entries(attributes).flatMap(([key, value]) => (value === null ? [] : [`${key}=${value}`]));
  return `#${name}:${list.join(",")}`;
}

/**
 * Text between quotes, composed as playlists must be (RFC 8216 §4.1).
 * @throws Error when it holds a quote or a control character, for which there is no escape
 */
export function quoted(text: string): string {
  if (/["\p{Cc}]/u.test(text)) throw new Error(`No playlist can hold ${JSON.stringify(text)} in quotes`);
  return `"${text.normalize("NFC")}"`;
}

/** The text of a playlist of these lines, with the lowest version that has what they need. */
export function playlistText(lines: readonly string[]): string {
  const version = versionOf(lines);
  const head = ["#EXTM3U", ...(version > 1 ? [`#EXT-X-VERSION:${version}`] : [])];
  return `${[...head, ...lines].join("\n")}\n`;
}

/**
 * RFC 8216 §7. Version 1 knows nothing of renditions and passes over them: 4, which §7 recommends, keeps players away that
 * would be silent. EXT-X-MAP came with 5 for keyframes, and with 6 for all else.
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
