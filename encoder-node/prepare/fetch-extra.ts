// Fetches a small file that an output needs besides the source, from a URL of the client.

import { join } from "node:path";
import * as z from "zod";
import { AppError, type ErrorCode } from "#shared/errors.ts";
import { hasTracks, type OutputSpec } from "#shared/job/output-spec.ts";
import { chosenAudio, undecodable } from "#shared/media/choose-streams.ts";
import { IMAGE_DECODERS } from "#shared/media/decoders.ts";
import { IMAGE_DEMUXERS } from "#shared/media/demuxers.ts";
import type { AudioFile } from "#shared/plan/source/source-tracks.ts";
import { err, ok, type Result } from "#shared/result.ts";
import type { FailedOutput } from "../outputs/check-output.ts";
import { fetchSource } from "../source/fetch/fetch-source.ts";
import { probeSource } from "../source/probe/probe-source.ts";
import { runFfprobe } from "../source/probe/run-ffprobe.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";

export type Extra = {
  readonly url: string;
  /** The file to write. */
  readonly path: string;
  /** The subject of failure messages: `The watermark`. */
  readonly subject: string;
  readonly code: ErrorCode;
  readonly maxBytes: number;
  /** Completes `it is not`, for a file of another kind (AppError `input_not_media`). */
  readonly expected: string;
};

export type ExtraDeps = Pick<TaskDeps, "allowPrivate" | "signal">;

/**
 * Fetches the file and returns the result of `read`, or a failure. `read` throws AppError `input_not_media`, or an
 * AppError whose message completes `cannot be used: `. Rejects only with the signal's reason, and with `node_failed`
 * for errors of this machine.
 */
export async function fetchExtra<Value>(
  extra: Extra,
  read: (path: string) => Promise<Value>,
  { allowPrivate: allow, signal }: ExtraDeps,
): Promise<Result<Value>> {
  const { url, path, subject, code, maxBytes } = extra;
  try {
    await fetchSource({ url, destination: path, allow, maxBytes, signal });
    return ok(await read(path));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AppError) || error.code === "node_failed") throw error;
    const host = URL.canParse(url) ? new URL(url).host : "";
    const message = `${subject} from the host \`${host}\` cannot be used: ${reasonOf(error, extra)}.`;
    return err({ code, message });
  }
}

/**
 * The reason why the file cannot be used. Most codes need a text of their own, because the error's message is about an
 * input.
 */
function reasonOf({ code, message }: AppError, { maxBytes, expected }: Extra): string {
  const status = /^input_http_(\d+)$/.exec(code)?.[1];
  if (status) return `the host responded with HTTP ${status}`;
  switch (code) {
    case "input_too_large":
      return `it is larger than ${maxBytes / 1e6} MB`;
    case "input_address_not_allowed":
      return "the address is not public";
    case "input_timeout":
    case "input_unreachable":
      return "the host did not respond, or closed the connection early";
    case "input_not_media":
    case "input_codec_not_supported":
      return `it is not ${expected}`;
    default:
      return message;
  }
}

/** Files by their URLs, and the outputs that need a file which cannot be used. */
export type ExtraFiles<Value> = {
  readonly files: ReadonlyMap<string, Value>;
  readonly failed: readonly FailedOutput[];
};

function extraFiles<Value>(
  outputs: readonly OutputSpec[],
  urlsOf: (spec: OutputSpec) => readonly string[],
  fetched: ReadonlyMap<string, Result<Value>>,
): ExtraFiles<Value> {
  const failed = outputs.flatMap((spec): FailedOutput[] => {
    const broken = urlsOf(spec)
      .map((url) => fetched.get(url))
      .find((file) => file?.ok === false);
    return broken && !broken.ok ? [{ output: spec.index, failure: broken.error }] : [];
  });
  return { files: new Map([...fetched].flatMap(([url, file]) => (file.ok ? [[url, file.value]] : []))), failed };
}

type FileDeps = ExtraDeps & Pick<TaskDeps, "ffprobe">;

const AUDIO = {
  subject: "The audio track",
  code: "input_track_not_found",
  // Hours of uncompressed audio.
  maxBytes: 4e9,
  expected: "a file with audio",
} as const;

/** URLs of the audio tracks of an output. */
const audioUrls = (spec: OutputSpec): string[] =>
  hasTracks(spec) && typeof spec.audioTracks === "object" ? spec.audioTracks.flatMap(({ url }) => url ?? []) : [];

/**
 * Fetches the files of audio tracks with a URL into the folder, each once, and probes them. One after the other, because
 * they may be large. Rejects as `fetchExtra` does.
 */
export async function fetchAudio(
  outputs: readonly OutputSpec[],
  folder: string,
  { ffprobe, ...deps }: FileDeps,
): Promise<ExtraFiles<AudioFile>> {
  const fetched = new Map<string, Result<AudioFile>>();
  for (const url of new Set(outputs.flatMap(audioUrls))) {
    const path = join(folder, `audio-${fetched.size + 1}`);
    const read = async (): Promise<AudioFile> => {
      const probe = await probeSource(ffprobe, path, deps.signal);
      const audio = chosenAudio(probe.streams);
      const reason = audio ? undecodable(audio) : null;
      if (!audio) throw new AppError("input_not_media", "The file has no audio");
      if (reason) throw new AppError("input_track_not_found", reason.reason.replace("The input's", "its"));
      return { url, path, probe };
    };
    fetched.set(url, await fetchExtra({ ...AUDIO, url, path }, read, deps));
  }
  return extraFiles(outputs, audioUrls, fetched);
}

/** `code`: of the overlay whose image it is. */
const IMAGE = {
  // A logo of a few hundred pixels has a few kilobytes.
  maxBytes: 20e6,
  expected: "a readable image (PNG, JPEG, WebP, GIF, BMP or TIFF)",
} as const;
const MAX_SIDE = 4096;

const WATERMARK = { subject: "The watermark", code: "watermark_failed" } as const;
const OVERLAY = { subject: "The image of an overlay", code: "overlay_failed" } as const;

const watermarkUrls = (spec: OutputSpec): string[] =>
  "watermark" in spec && spec.watermark ? [spec.watermark.url] : [];

const overlayUrls = (spec: OutputSpec): string[] =>
  spec.type === "text" ? [] : (spec.overlays ?? []).flatMap((overlay) => ("url" in overlay ? [overlay.url] : []));

const imageUrls = (spec: OutputSpec): string[] => [...watermarkUrls(spec), ...overlayUrls(spec)];

/**
 * Fetches the watermarks and overlay images of outputs into the folder, each once and all at the same time, and returns
 * their paths. Checks that each is an image. Rejects as `fetchExtra` does.
 */
export async function fetchWatermarks(
  outputs: readonly OutputSpec[],
  folder: string,
  { ffprobe, ...deps }: FileDeps,
): Promise<ExtraFiles<string>> {
  const read = (path: string): Promise<string> => checkImage(ffprobe, path, deps.signal);
  const watermarks = new Set(outputs.flatMap(watermarkUrls));
  const fetched = [...new Set(outputs.flatMap(imageUrls))].map(async (url, at) => {
    const path = join(folder, `watermark-${at + 1}`);
    const owner = watermarks.has(url) ? WATERMARK : OVERLAY;
    return [url, await fetchExtra({ ...IMAGE, ...owner, url, path }, read, deps)] as const;
  });
  return extraFiles(outputs, imageUrls, new Map(await Promise.all(fetched)));
}

const IMAGES = { demuxers: IMAGE_DEMUXERS, decoders: IMAGE_DECODERS };
const Images = z.object({
  streams: z.array(z.object({ width: z.int().positive(), height: z.int().positive() })).min(1),
});

/** Returns the path. */
async function checkImage(ffprobe: TaskDeps["ffprobe"], path: string, signal: AbortSignal): Promise<string> {
  const options = ["-show_entries", "stream=width,height", "-select_streams", "v:0"];
  const { stdout } = await runFfprobe({ ffprobe, path, options, signal, allowed: IMAGES });
  const parsed = Images.safeParse(JSON.parse(stdout));
  const [image] = parsed.data?.streams ?? [];
  if (!image) throw new AppError("input_not_media", "The file has no image");
  if (Math.max(image.width, image.height) <= MAX_SIDE) return path;
  const size = `${image.width}x${image.height}`;
  throw new AppError("watermark_failed", `it has ${size} pixels, but at most ${MAX_SIDE} per side are allowed`);
}
