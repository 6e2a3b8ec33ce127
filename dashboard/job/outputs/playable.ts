// The media of a job that can be played: its outputs, growing streams, and its source.
import type { Job, JobMetadata, MediaMetadata, Output, RequestView } from "../../../client/index.ts";
import { frameRateOf } from "../../core/frame-rate.ts";
import type { Medium } from "../../player/messages.ts";
import { mainVideo } from "./figures.ts";

/** Data about a job besides its state. Each field may be missing, or arrive later. */
export type Known = {
  readonly request: RequestView["request"] | undefined;
  readonly metadata: JobMetadata["metadata"] | undefined;
  /** The URL of an uploaded source. */
  readonly uploadUrl?: string | undefined;
};

export type Playable = {
  /** Stays the same while the job runs. */
  readonly id: string;
  readonly medium: Medium;
  /** A WebVTT file with thumbnails for the seek bar. */
  readonly thumbnails: string | null;
};

// No output has these keys: `source` is reserved, and the other is not a format.
const SOURCE = "source";
const LOCAL_SOURCE = "local/source";

/** True if a page may link to the URL: other schemes could run code in the page. */
export const isHttp = (url: string | undefined): url is string => url !== undefined && /^https?:\/\//i.test(url);

/** The media of a job, in the order of the outputs. A stream has an entry for each of its playlists. */
export const playablesOf = (job: Job, known: Known): Playable[] =>
  job.outputs.flatMap((output) => playablesOfOutput(job, output, known));

export function playablesOfOutput(job: Job, output: Output, known: Known): Playable[] {
  const params = paramsOf(known.request, output.key);
  const offset = typeof params.offset === "number" ? params.offset : 0;
  const isTrimmed = offset > 0 || params.duration !== undefined;
  const facts = factsOf(metadataOf(output, known));
  const label = output.key;
  const thumbnails = isTrimmed ? null : imageThumbnails(job);
  if (output.type === "video" && isHttp(output.url)) {
    const medium: Medium = { kind: "file", source: output.url, label, offset, ...facts };
    return [{ id: output.key, medium, thumbnails }];
  }
  if (output.type !== "httpstream") return [];
  // Not every browser decodes these codecs: the player reports if it shows no frames.
  const isSpecial = /hevc|vp9|av1/.test((params.variants ?? []).toString());
  return playlistsOf(output).map(({ format, url }, index) => ({
    id: `${output.key}#${index}`,
    medium: { kind: format, source: url, label, offset: 0, ...facts, ...(isSpecial ? { hasVideo: true } : {}) },
    thumbnails: params.thumbnails === true ? url.replace(/\.(m3u8|mpd)$/, ".vtt") : thumbnails,
  }));
}

/**
 * The shown medium with its offset, if it is known by now. Returns the same object if nothing changes, so that playback
 * continues.
 */
export function withOffset(playable: Playable, known: readonly Playable[]): Playable {
  const offset = known.find(({ id }) => id === playable.id)?.medium.offset ?? playable.medium.offset;
  return offset === playable.medium.offset ? playable : { ...playable, medium: { ...playable.medium, offset } };
}

/** The playlists of a stream: the final or the growing playlists. */
export function playlistsOf({ urls = [], live }: Output): { format: "hls" | "dash"; url: string }[] {
  const final = urls.flatMap((entry) => (typeof entry === "string" ? [] : [entry]));
  if (final.length > 0) return final.filter(({ url }) => isHttp(url));
  const growing = (["hls", "dash"] as const).map((format) => ({ format, url: live?.[format] ?? "" }));
  return growing.filter(({ url }) => isHttp(url));
}

/** The id of the upload that is the source of the job; null for another source. */
export const uploadOf = ({ input }: Job): string | null => /^upload:\/\/([^/]+)/.exec(input.source ?? "")?.[1] ?? null;

/** The metadata of the source, once it has been inspected. */
export const inputOf = ({ metadata }: Known): MediaMetadata | undefined =>
  metadata?.input && "streams" in metadata.input ? (metadata.input as MediaMetadata) : undefined;

/** The source, if a browser might read it; null if it has no URL. */
export function sourceOf(job: Job, known: Known): Playable | null {
  const url = uploadOf(job) === null ? job.input.source : known.uploadUrl;
  if (!isHttp(url)) return null;
  const medium: Medium = { kind: "file", source: url, label: "source", offset: 0, ...factsOf(inputOf(known)) };
  return { id: SOURCE, medium, thumbnails: null };
}

/** A file on this computer that stands for the source. The player reads it from the disk. */
export function localSource(file: File): Playable {
  const hasVideo = file.type.startsWith("video/") || null;
  const medium: Medium = { kind: "file", source: file, label: file.name, offset: 0, frameRate: null, hasVideo };
  return { id: LOCAL_SOURCE, medium, thumbnails: null };
}

/** True if the medium is the source of the job, from the storage or from this computer. */
export const isSource = ({ id }: Playable): boolean => id === SOURCE || id === LOCAL_SOURCE;

function factsOf(metadata: MediaMetadata | undefined): Pick<Medium, "frameRate" | "hasVideo"> {
  if (metadata === undefined) return { frameRate: null, hasVideo: null };
  const video = mainVideo(metadata);
  return { frameRate: video ? frameRateOf(video) : null, hasVideo: video !== undefined };
}

/** The metadata of an output; for a stream, of its first package. */
export const metadataOf = ({ key }: Output, { metadata }: Known) =>
  metadata?.outputs.find((entry) => Object.hasOwn(entry, key))?.[key];

/** The thumbnails from another output: image outputs list their WebVTT file last. */
function imageThumbnails({ outputs }: Job): string | null {
  const files = outputs.flatMap(({ type, urls }) => (type === "image" ? [urls?.at(-1)] : []));
  return files.find((url) => typeof url === "string" && /^https?:.*\.vtt$/i.test(url))?.toString() ?? null;
}

type Params = Readonly<Record<string, unknown>>;

/** The parameters of an output in the request. `mp4:2` is the second of several outputs with the format `mp4`. */
export function paramsOf(request: Known["request"], key: string): Params {
  for (const [format, entry] of Object.entries(request?.outputs ?? {})) {
    const several = Array.isArray(entry) ? (entry as unknown[]) : [entry];
    for (const [index, params] of several.entries()) {
      const name = several.length > 1 ? `${format}:${index + 1}` : format;
      const fields = typeof params === "object" && params !== null ? (params as Params) : {};
      if ((fields.key ?? name) === key) return fields;
    }
  }
  return {};
}
