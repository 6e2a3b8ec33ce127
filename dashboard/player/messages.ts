// The messages between a page and the player in its frame. Neither side trusts the other: both parse.

export const MEDIUM_KINDS = ["file", "hls", "dash"] as const;

/** A medium to play. */
export type Medium = {
  readonly kind: (typeof MEDIUM_KINDS)[number];
  /** An http(s) URL, or a file that the person chose. */
  readonly source: string | Blob;
  /** A name for people, such as `mp4:720p`. */
  readonly label: string;
  /** The position of the medium's start in the source of the job, in seconds. */
  readonly offset: number;
  /** Frames per second; null: unknown. */
  readonly frameRate: number | null;
  /** True if the medium has a video track; null: unknown. */
  readonly hasVideo: boolean | null;
};

/** A medium to play, or two media to compare. The second medium is the output. */
export type Opening = {
  readonly media: readonly Medium[];
  /** The URL of a WebVTT file with thumbnails for the seek bar. */
  readonly thumbnails: string | null;
};

export type ToFrame =
  | { readonly type: "open"; readonly opening: Opening }
  /** A shortcut that was pressed outside of the frame. */
  | { readonly type: "key"; readonly key: string };

/**
 * Reasons why a medium does not play.
 * - `codec`: the browser cannot decode it.
 * - `denied`, `missing`, `unreachable`: the storage forbids reading it, lacks it, or does not answer.
 * - `cors`: people can read it, but pages of other sites cannot (CORS).
 * - `unclear`: one of these, which the browser does not report.
 * - `other`: see the detail.
 */
export const REASONS = ["codec", "denied", "missing", "unreachable", "cors", "unclear", "other"] as const;
export type Reason = (typeof REASONS)[number];

/** `medium`: its index in the opening. */
export type Problem = { readonly medium: number; readonly reason: Reason; readonly detail: string };

export type FromFrame =
  | { readonly type: "ready" }
  /** The first frame has been loaded. The size is in pixels; 0 for audio. */
  | { readonly type: "size"; readonly width: number; readonly height: number }
  | { readonly type: "problem"; readonly problem: Problem }
  /** A shortcut of the page that was pressed in the frame. */
  | { readonly type: "key"; readonly key: string };

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (data: unknown): Fields => (typeof data === "object" && data !== null ? (data as Fields) : {});
const isText = (value: unknown): value is string => typeof value === "string";
const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const oneOf = <Value>(values: readonly Value[], value: unknown): value is Value =>
  (values as readonly unknown[]).includes(value);

/** Parses a message from the frame; null if it is not a message of the player. */
export function parseFromFrame(data: unknown): FromFrame | null {
  const { type, width, height, key, problem } = fieldsOf(data);
  if (type === "ready") return { type };
  if (type === "size" && isSize(width) && isSize(height)) return { type, width, height };
  if (type === "key" && isText(key)) return { type, key };
  const { medium, reason, detail } = fieldsOf(problem);
  if (type !== "problem" || !isSize(medium) || !oneOf(REASONS, reason) || !isText(detail)) return null;
  return { type, problem: { medium, reason, detail } };
}

/** Parses a message from the page; null if it is not a message for the player. */
export function parseToFrame(data: unknown): ToFrame | null {
  const { type, key, opening } = fieldsOf(data);
  if (type === "key" && isText(key)) return { type, key };
  const { media, thumbnails } = fieldsOf(opening);
  if (type !== "open" || !Array.isArray(media) || media.length < 1 || media.length > 2) return null;
  if (!media.every(isMedium) || !(thumbnails === null || isUrl(thumbnails))) return null;
  return { type, opening: { media, thumbnails } };
}

function isMedium(value: unknown): value is Medium {
  const { kind, source, label, offset, frameRate, hasVideo } = fieldsOf(value);
  const hasRate = frameRate === null || (typeof frameRate === "number" && frameRate > 0);
  return (
    oneOf(MEDIUM_KINDS, kind) &&
    (isUrl(source) || source instanceof Blob) &&
    isText(label) &&
    Number.isFinite(offset) &&
    hasRate &&
    oneOf([true, false, null], hasVideo)
  );
}

const isUrl = (value: unknown): value is string => isText(value) && /^https?:\/\//i.test(value);
