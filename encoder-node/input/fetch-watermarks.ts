// Brings the watermarks of a task to this node's disk, each once, and sees that each is a picture.
import { join } from "node:path";
import * as z from "zod";
import type { AllowPrivate } from "#shared/address-policy.ts";
import { AppError, type Failure } from "#shared/errors.ts";
import { PICTURE_DEMUXERS } from "#shared/plan/demuxers.ts";
import type { Tool } from "../ffmpeg/locate.ts";
import { fetchSource } from "./fetch-source.ts";
import { runFfprobe } from "./probe.ts";

/** A logo of a few hundred pixels has kilobytes. */
const MAX_BYTES = 20e6;
const MAX_SIDE = 4096;

export type FetchWatermarks = {
  readonly urls: Iterable<string>;
  /** Where the files go. */
  readonly folder: string;
  readonly ffprobe: Tool;
  readonly allow: AllowPrivate;
  readonly signal: AbortSignal;
};

/** By URL: the file, or why there is none. */
export type Watermarks = ReadonlyMap<string, { readonly path: string } | { readonly failure: Failure }>;

/** Fetches all at the same time. Rejects only with the signal's reason, and with `node_failed` for trouble of this machine. */
export async function fetchWatermarks({ urls, ...fetch }: FetchWatermarks): Promise<Watermarks> {
  const fetched = [...new Set(urls)].map(async (url, at) => {
    const path = join(fetch.folder, `watermark-${at + 1}.bin`);
    return [url, await fetchOne(url, path, fetch)] as const;
  });
  return new Map(await Promise.all(fetched));
}

async function fetchOne(
  url: string,
  path: string,
  { ffprobe, allow, signal }: Omit<FetchWatermarks, "urls">,
): Promise<{ path: string } | { failure: Failure }> {
  try {
    await fetchSource({ url, destination: path, allow, maxBytes: MAX_BYTES, signal });
    await checkPicture(ffprobe, path, signal);
    return { path };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AppError) || error.code === "node_failed") throw error;
    const host = URL.canParse(url) ? new URL(url).host : "";
    const message = `The watermark from the host \`${host}\` cannot be used: ${reason(error)}.`;
    return { failure: { code: "watermark_failed", message } };
  }
}

/** What is wrong, in words about a watermark: those of the error are about an input. */
function reason({ code, message }: AppError): string {
  const status = /^input_http_(\d+)$/.exec(code)?.[1];
  if (status) return `the host answered with HTTP ${status}`;
  switch (code) {
    case "input_too_large":
      return `it is larger than ${MAX_BYTES / 1e6} MB`;
    case "input_address_not_allowed":
      return "the address is not a public one";
    case "input_timeout":
    case "input_unreachable":
      return "the host did not answer, or broke off";
    case "input_not_media":
      return "it is no picture that can be read (PNG, JPEG, WebP, GIF, BMP or TIFF)";
    default:
      return message;
  }
}

const Pictures = z.object({
  streams: z.array(z.object({ width: z.int().positive(), height: z.int().positive() })).min(1),
});

async function checkPicture(ffprobe: Tool, path: string, signal: AbortSignal): Promise<void> {
  const wanted = ["-show_entries", "stream=width,height", "-select_streams", "v:0"];
  const text = await runFfprobe(ffprobe, path, wanted, signal, PICTURE_DEMUXERS);
  const parsed = Pictures.safeParse(JSON.parse(text));
  const [picture] = parsed.data?.streams ?? [];
  if (!picture) throw new AppError("input_not_media", "No picture");
  if (Math.max(picture.width, picture.height) <= MAX_SIDE) return;
  const size = `${picture.width}x${picture.height}`;
  throw new AppError("watermark_failed", `it has ${size} pixels, and at most ${MAX_SIDE} on a side are possible`);
}
