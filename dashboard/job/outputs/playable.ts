// What of a job can be played: its outputs, streams also while they are encoded, and its source.
import type { Job, JobMetadata, MediaMetadata, Output, RequestView } from "../../../client/index.ts";
import { frameRateOf } from "../../core/frame-rate.ts";
import type { Medium } from "../../player/messages.ts";
import { mainVideo } from "./figures.ts";

/** What the page knows of a job besides its state; each may be missing, or be there later. */
export type Known = {
  readonly request: RequestView["request"] | undefined;
  readonly metadata: JobMetadata["metadata"] | undefined;
  /** Where an uploaded source can be read. */
  readonly uploadUrl?: string | undefined;
};

export type Playable = {
  /** The same while the job goes on. */
  readonly id: string;
  readonly medium: Medium;
  /** A WebVTT file with thumbnails for its seek bar. */
  readonly thumbnails: string | null;
};

// No output has one of these as its key: `source` is reserved, and the other is no format.
const SOURCE = "source";
const LOCAL_SOURCE = "local/source";

/** True if a link may lead to it: no other scheme may run in the page. */
export const isHttp = (url: string | undefined): url is string => url !== undefined && /^https?:\/\//i.test(url);

/** What can be played, in the order of the outputs; a stream once for each of its playlists. */
export const playablesOf = (job: Job, known: Known): Playable[] =>
  job.outputs.flatMap((output) => playablesOfOutput(job, output, known));

export function playablesOfOutput(job: Job, output: Output, known: Known): Playable[] {
  const params = paramsOf(known.request, output.key);
  const offset = typeof params.offset === "number" ? params.offset : 0;
  const isTrimmed = offset > 0 || params.duration !== undefined;
  const facts = factsOf(metadataOf(known.metadata, output.key));
  const label = output.key;
  const thumbnails = isTrimmed ? null : imageThumbnails(job);
  if (output.type === "video" && isHttp(output.url)) {
    const medium: Medium = { kind: "file", source: output.url, label, offset, ...facts };
    return [{ id: output.key, medium, thumbnails }];
  }
  if (output.type !== "httpstream") return [];
  const isHevc = (params.variants ?? []).toString().includes("hevc");
  return playlistsOf(output).map(({ format, url }, index) => ({
    id: `${output.key}#${index}`,
    medium: { kind: format, source: url, label, offset: 0, ...facts, ...(isHevc ? { hasVideo: true } : {}) },
    thumbnails: params.thumbnails === true ? url.replace(/\.(m3u8|mpd)$/, ".vtt") : thumbnails,
  }));
}

/**
 * As it is shown, with the offset that is known by now; the same object where that is no other, so that it plays on.
 */
export function withOffset(shown: Playable, known: readonly Playable[]): Playable {
  const offset = known.find(({ id }) => id === shown.id)?.medium.offset ?? shown.medium.offset;
  return offset === shown.medium.offset ? shown : { ...shown, medium: { ...shown.medium, offset } };
}

/** The playlists of a stream: the final ones, or those that grow. */
export function playlistsOf({ urls = [], live }: Output): { format: "hls" | "dash"; url: string }[] {
  const final = urls.flatMap((entry) => (typeof entry === "string" ? [] : [entry]));
  if (final.length > 0) return final.filter(({ url }) => isHttp(url));
  const growing = (["hls", "dash"] as const).map((format) => ({ format, url: live?.[format] ?? "" }));
  return growing.filter(({ url }) => isHttp(url));
}

/** The id of the upload that is the source of the job; null if it is something else. */
export const uploadOf = ({ input }: Job): string | null => /^upload:\/\/([^/]+)/.exec(input.source ?? "")?.[1] ?? null;

/** The source, where a browser might read it; null where it has no URL. */
export function sourceOf(job: Job, { metadata, uploadUrl }: Known): Playable | null {
  const url = uploadOf(job) === null ? job.input.source : uploadUrl;
  if (!isHttp(url)) return null;
  const input = metadata?.input && "streams" in metadata.input ? (metadata.input as MediaMetadata) : undefined;
  const medium: Medium = { kind: "file", source: url, label: "source", offset: 0, ...factsOf(input) };
  return { id: SOURCE, medium, thumbnails: null };
}

/** A file of this computer that is taken for the source; the player reads it from the disk. */
export function localSource(file: File): Playable {
  const hasVideo = file.type.startsWith("video/") || null;
  const medium: Medium = { kind: "file", source: file, label: file.name, offset: 0, frameRate: null, hasVideo };
  return { id: LOCAL_SOURCE, medium, thumbnails: null };
}

/** True if it is the source of the job, wherever it is read. */
export const isSource = ({ id }: Playable): boolean => id === SOURCE || id === LOCAL_SOURCE;

function factsOf(metadata: MediaMetadata | undefined): Pick<Medium, "frameRate" | "hasVideo"> {
  if (metadata === undefined) return { frameRate: null, hasVideo: null };
  const video = mainVideo(metadata);
  return { frameRate: video ? frameRateOf(video) : null, hasVideo: video !== undefined };
}

/** Of a stream those of one of its packages. */
export function metadataOf(metadata: Known["metadata"], key: string): MediaMetadata | undefined {
  const found = metadata?.outputs.find((entry) => Object.hasOwn(entry, key))?.[key];
  if (found === undefined) return undefined;
  return "streams" in found ? found : (found.hls ?? found.dash);
}

/** The thumbnails that another output made: image outputs name their WebVTT file last. */
function imageThumbnails({ outputs }: Job): string | null {
  const files = outputs.flatMap(({ type, urls }) => (type === "image" ? [urls?.at(-1)] : []));
  return files.find((url) => typeof url === "string" && /^https?:.*\.vtt$/i.test(url))?.toString() ?? null;
}

type Params = Readonly<Record<string, unknown>>;

/** The parameters of an output in the request; `mp4:2` is the second one of several with the format `mp4`. */
export function paramsOf(request: Known["request"], key: string): Params {
  for (const [format, entry] of Object.entries(request?.outputs ?? {})) {
    const several = Array.isArray(entry) ? (entry as unknown[]) : [entry];
    for (const [index, params] of several.entries()) {
      const name = several.length > 1 ? `${format}:${index + 1}` : format;
      const given = typeof params === "object" && params !== null ? (params as Params) : {};
      if ((given.key ?? name) === key) return given;
    }
  }
  return {};
}
