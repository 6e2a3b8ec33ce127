// Brings the watermarks of a task to this node's disk, each once, and sees that each is a picture.
import { join } from "node:path";
import * as z from "zod";
import { AppError } from "#shared/errors.ts";
import { PICTURE_DECODERS } from "#shared/media/decoders.ts";
import { PICTURE_DEMUXERS } from "#shared/media/demuxers.ts";
import type { Tool } from "../../ffmpeg/build/locate.ts";
import { runFfprobe } from "../probe/probe.ts";
import { type ExtraDeps, type Fetched, fetchExtra } from "./fetch-extra.ts";

/** A logo of a few hundred pixels has kilobytes. */
const MAX_BYTES = 20e6;
const MAX_SIDE = 4096;

export type FetchWatermarks = ExtraDeps & {
  readonly urls: Iterable<string>;
  /** Where the files go. */
  readonly folder: string;
  readonly ffprobe: Tool;
};

/** By URL: the file, or why there is none. */
export type Watermarks = ReadonlyMap<string, Fetched>;

/** Fetches all at the same time. Rejects as `fetchExtra` does. */
export async function fetchWatermarks({ urls, folder, ffprobe, ...deps }: FetchWatermarks): Promise<Watermarks> {
  const kind = {
    what: "The watermark",
    code: "watermark_failed",
    maxBytes: MAX_BYTES,
    wanted: "picture that can be read (PNG, JPEG, WebP, GIF, BMP or TIFF)",
  } as const;
  const check = (path: string): Promise<void> => checkPicture(ffprobe, path, deps.signal);
  const fetched = [...new Set(urls)].map(async (url, at) => {
    const path = join(folder, `watermark-${at + 1}`);
    return [url, await fetchExtra({ ...kind, url, path }, check, deps)] as const;
  });
  return new Map(await Promise.all(fetched));
}

const PICTURES = { demuxers: PICTURE_DEMUXERS, decoders: PICTURE_DECODERS };
const Pictures = z.object({
  streams: z.array(z.object({ width: z.int().positive(), height: z.int().positive() })).min(1),
});

async function checkPicture(ffprobe: Tool, path: string, signal: AbortSignal): Promise<void> {
  const wanted = ["-show_entries", "stream=width,height", "-select_streams", "v:0"];
  const text = await runFfprobe(ffprobe, path, wanted, signal, PICTURES);
  const parsed = Pictures.safeParse(JSON.parse(text));
  const [picture] = parsed.data?.streams ?? [];
  if (!picture) throw new AppError("input_not_media", "No picture");
  if (Math.max(picture.width, picture.height) <= MAX_SIDE) return;
  const size = `${picture.width}x${picture.height}`;
  throw new AppError("watermark_failed", `it has ${size} pixels, and at most ${MAX_SIDE} on a side are possible`);
}
