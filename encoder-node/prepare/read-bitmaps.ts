// Reads the tracks of images that outputs draw, before the outputs are encoded.
import * as z from "zod";
import { AppError } from "#shared/errors.ts";
import { BITMAPS_ORIGIN_MS } from "#shared/plan/filters/burn-in.ts";
import { bitmapData, bitmapVideo, planBitmapData, planBitmaps } from "#shared/plan/text/plan-bitmaps.ts";
import type { TextTrack } from "#shared/plan/text/text-tracks.ts";
import { readBytes } from "../run-files/open-file.ts";
import { RunFiles } from "../run-files/run-files.ts";
import { runFfprobe } from "../source/probe/run-ffprobe.ts";
import { canvasShape, canvasSize } from "../text/burn-in/bitmap-canvas.ts";
import type { TrackBitmaps } from "../text/burn-in/burn-files.ts";
import { readOwnFile } from "../upload/made-file.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";
import type { TextSource } from "./read-texts.ts";
import { type RunDeps, runOnSource } from "./run-planned.ts";

const MAX_DATA_BYTES = 100e6;
/** 4096×2304, more than the canvas of any disc. */
const MAX_PIXELS = 9_437_184;

type Deps = RunDeps & Pick<TaskDeps, "ffprobe">;

/** Returns null for a track without packets. Throws AppError `subtitle_failed`, and as `ReadTexts`. */
export type ReadBitmaps = (track: TextTrack) => Promise<TrackBitmaps | null>;

/** Reads each track once. */
export function bitmapReader(source: TextSource, deps: Deps): ReadBitmaps {
  const read = new Map<number, ReturnType<ReadBitmaps>>();
  return (track) => {
    const bitmaps = read.get(track.streamIndex) ?? readBitmaps(track, source, deps);
    read.set(track.streamIndex, bitmaps);
    return bitmaps;
  };
}

async function readBitmaps(track: TextTrack, source: TextSource, deps: Deps): Promise<TrackBitmaps | null> {
  const { probe } = source;
  const files = await RunFiles.create(source.folder);
  await runOnSource(source, [planBitmapData(source, probe, track)], files, deps);
  const data = await readBytes(files.pathOf(bitmapData(track)), MAX_DATA_BYTES);
  if (data.length === 0) return null;
  const stream = probe.streams.find(({ index }) => index === track.streamIndex) ?? {};
  const canvas = canvasSize(stream, data, probe);
  const pixels = canvas.width * canvas.height;
  if (pixels === 0 || pixels > MAX_PIXELS) throw unreadable(`its images have ${canvas.width}x${canvas.height} pixels`);
  await runOnSource(source, [planBitmaps(source, probe, track, canvas)], files, deps);
  const path = files.pathOf(bitmapVideo(track));
  return { path, startMs: await firstImage(path, deps), ...canvasShape(stream, canvas, probe) };
}

const Packets = z.object({
  packets: z.array(z.object({ pts_time: z.coerce.number(), size: z.string() })),
});

/** Returns the time of the first image, in ms. Throws if all images are empty: ffmpeg makes an empty one at first. */
async function firstImage(path: string, { ffprobe, signal }: Pick<TaskDeps, "ffprobe" | "signal">): Promise<number> {
  const options = ["-f", "nut", "-show_entries", "packet=pts_time,size"];
  const allowed = { demuxers: "nut", decoders: "png" };
  const { stdout } = await readOwnFile(runFfprobe({ ffprobe, path, options, signal, allowed }));
  const { packets } = Packets.parse(JSON.parse(stdout));
  const [first] = packets;
  if (!first || packets.every(({ size }) => size === first.size)) throw unreadable("none of its images can be decoded");
  return first.pts_time * 1000 - BITMAPS_ORIGIN_MS;
}

const unreadable = (reason: string): AppError => new AppError("subtitle_failed", reason);
