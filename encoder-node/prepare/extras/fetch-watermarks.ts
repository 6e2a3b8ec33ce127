// Fetches the watermarks of a task to this node's disk, each once, and checks that each is an image.
import { join } from "node:path";
import * as z from "zod";
import { AppError } from "#shared/errors.ts";
import { IMAGE_DECODERS } from "#shared/media/decoders.ts";
import { IMAGE_DEMUXERS } from "#shared/media/demuxers.ts";
import type { Result } from "#shared/result.ts";
import type { Tool } from "../../ffmpeg/discover/locate.ts";
import { runFfprobe } from "../../source/probe/run-ffprobe.ts";
import { type ExtraDeps, fetchExtra } from "./fetch-extra.ts";

/** A logo of a few hundred pixels has a few kilobytes. */
const MAX_BYTES = 20e6;
const MAX_SIDE = 4096;

export type FetchWatermarks = ExtraDeps & {
  readonly urls: Iterable<string>;
  readonly folder: string;
  readonly ffprobe: Tool;
};

/** By URL: the path of the file, or the reason why it cannot be used. */
export type Watermarks = ReadonlyMap<string, Result<string>>;

/** Fetches all at the same time. Rejects as `fetchExtra` does. */
export async function fetchWatermarks({ urls, folder, ffprobe, ...deps }: FetchWatermarks): Promise<Watermarks> {
  const kind = {
    subject: "The watermark",
    code: "watermark_failed",
    maxBytes: MAX_BYTES,
    expected: "a readable image (PNG, JPEG, WebP, GIF, BMP or TIFF)",
  } as const;
  const check = (path: string): Promise<void> => checkImage(ffprobe, path, deps.signal);
  const fetched = [...new Set(urls)].map(async (url, at) => {
    const path = join(folder, `watermark-${at + 1}`);
    return [url, await fetchExtra({ ...kind, url, path }, check, deps)] as const;
  });
  return new Map(await Promise.all(fetched));
}

const IMAGES = { demuxers: IMAGE_DEMUXERS, decoders: IMAGE_DECODERS };
const Images = z.object({
  streams: z.array(z.object({ width: z.int().positive(), height: z.int().positive() })).min(1),
});

async function checkImage(ffprobe: Tool, path: string, signal: AbortSignal): Promise<void> {
  const options = ["-show_entries", "stream=width,height", "-select_streams", "v:0"];
  const { stdout } = await runFfprobe({ ffprobe, path, options, signal, allowed: IMAGES });
  const parsed = Images.safeParse(JSON.parse(stdout));
  const [image] = parsed.data?.streams ?? [];
  if (!image) throw new AppError("input_not_media", "The file has no image");
  if (Math.max(image.width, image.height) <= MAX_SIDE) return;
  const size = `${image.width}x${image.height}`;
  throw new AppError("watermark_failed", `it has ${size} pixels, but at most ${MAX_SIDE} per side are allowed`);
}
