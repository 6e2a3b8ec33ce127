// Thumbnails of the seek bar: WebVTT cues that name an image, or a part of a sprite sheet (`#xywh=`).

export type Thumbnail = {
  /** Seconds. */
  readonly start: number;
  readonly end: number;
  readonly url: string;
  /** The part of the image; null: the whole image. */
  readonly part: { readonly x: number; readonly y: number; readonly width: number; readonly height: number } | null;
};

const CUE = /^((?:\d+:)?\d\d:\d\d\.\d{3})[ \t]+-->[ \t]+((?:\d+:)?\d\d:\d\d\.\d{3}).*\r?\n(\S+)/gm;

const secondsOf = (clock: string): number => clock.split(":").reduce((seconds, part) => seconds * 60 + Number(part), 0);

/** The cues of a WebVTT file at the URL `base`, in the file's order. Cues without a thumbnail are left out. */
export function parseThumbnails(text: string, base: string): Thumbnail[] {
  const cues = text.replace(/\r\n?/g, "\n").matchAll(CUE);
  return [...cues].flatMap(([, start = "", end = "", name = ""]) => {
    const url = URL.parse(name, base);
    if (url === null || !/^https?:$/.test(url.protocol)) return [];
    const [, ...sides] = /^#xywh=(?:pixel:)?(\d+),(\d+),(\d+),(\d+)$/.exec(url.hash) ?? [];
    const [x = 0, y = 0, width = 0, height = 0] = sides.map(Number);
    url.hash = "";
    const part = sides.length === 4 ? { x, y, width, height } : null;
    return [{ start: secondsOf(start), end: secondsOf(end), url: url.href, part }];
  });
}

/** The thumbnail for a time: the last one that starts before it, or the first. */
export const thumbnailAt = (thumbnails: readonly Thumbnail[], seconds: number): Thumbnail | undefined =>
  thumbnails.findLast(({ start }) => start <= seconds) ?? thumbnails[0];
