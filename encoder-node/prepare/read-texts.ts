// Reads the text tracks of a source before its outputs are encoded.

import * as z from "zod";
import { AppError, failureOf } from "#shared/errors.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import { CAPTION_CHANNELS, isChannel } from "#shared/job/subtitles.ts";
import { sourceFacts } from "#shared/media/source-facts.ts";
import { BITMAPS_ORIGIN_MS } from "#shared/plan/filters/burn-in.ts";
import { type Channels, requestedChannels } from "#shared/plan/text/choose-texts.ts";
import { bitmapData, bitmapVideo, planBitmapData, planBitmaps } from "#shared/plan/text/plan-bitmaps.ts";
import { CAPTION_TIMES, CAPTION_UNITS, planCaptions } from "#shared/plan/text/plan-captions.ts";
import { planTexts, textFile, textFormat } from "#shared/plan/text/plan-texts.ts";
import {
  type ChannelTrack,
  channelFile,
  channelTrack,
  failedChannel,
  readPath,
  type TextTrack,
} from "#shared/plan/text/text-tracks.ts";
import { readBytes, writeText } from "../run-files/open-file.ts";
import { RunFiles } from "../run-files/run-files.ts";
import { runFfprobe } from "../source/probe/run-ffprobe.ts";
import { canvasShape, canvasSize } from "../text/burn-in/bitmap-canvas.ts";
import type { TrackBitmaps } from "../text/burn-in/burn-files.ts";
import { isolated } from "../text/parsing/isolated.ts";
import { readOwnFile } from "../upload/made-file.ts";
import { type RunDeps, runOnSource } from "../workspace/run-planned.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";
import type { TaskSource } from "../workspace/task-source.ts";
import type { TrackFile } from "./fetch-subtitles.ts";
import { recognizeSpeech } from "./recognize-speech.ts";

/** Returns the file of each track. Throws an AppError with the failure of ffmpeg, and when the signal aborts. */
export type ReadTexts = (tracks: readonly TextTrack[]) => Promise<(track: TextTrack) => TrackFile>;

/** Readers of the text of a source. */
export type SourceTexts = {
  readonly channels: Channels;
  readonly readTexts: ReadTexts;
  /** Absent if no output of the task draws images. */
  readonly readBitmaps?: ReadBitmaps;
};

/** Reads the text that outputs show from the source itself. Throws when the signal aborts. */
export const sourceTexts = async (
  outputs: readonly OutputSpec[],
  source: TaskSource,
  deps: Deps,
): Promise<SourceTexts> => ({
  channels: [...(await captionsOf(outputs, source, deps)), ...(await speechOf(outputs, source, deps))],
  readTexts: textReader(source, deps),
  readBitmaps: bitmapReader(source, deps),
});

/** Reads all tracks in a single run, except for tracks that were read already. */
function textReader({ probe, folder, ...inputs }: TaskSource, deps: RunDeps): ReadTexts {
  return async (wanted) => {
    const tracks = wanted.filter((track) => readPath(track) === null);
    const files = await RunFiles.create(folder);
    const runs = tracks.length === 0 ? [] : [planTexts(inputs, probe, tracks)];
    await runOnSource(inputs, runs, files, deps);
    return textsIn(files);
  };
}

/** The files of tracks that were read into the folder. */
export const textsIn =
  (files: RunFiles) =>
  (track: TextTrack): TrackFile => ({
    path: readPath(track) ?? files.pathOf(textFile(track)),
    format: textFormat(track),
  });

// Reads the closed captions of a source's video before its outputs are encoded.

/** Ten hours at 60 frames per second have a few hundred megabytes. */
const MAX_BYTES = 500e6;

/** The channels with captions, read if an output needs them. Throws when the signal aborts. */
async function captionsOf(outputs: readonly OutputSpec[], source: TaskSource, deps: RunDeps): Promise<Channels> {
  if (!outputs.flatMap(requestedChannels).some(isChannel)) return [];
  try {
    return await readCaptions(source, deps);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, message } = failureOf(error);
    const text = code === "subtitle_failed" ? `The closed captions of the input cannot be used: ${message}.` : message;
    return CAPTION_CHANNELS.map((channel) => failedChannel(channel, { code, message: text }));
  }
}

/** Recognizes the speech if an output needs it. Throws when the signal aborts. */
function speechOf(outputs: readonly OutputSpec[], source: TaskSource, deps: Deps): Promise<Channels> {
  const wanted = new Set(outputs.flatMap(requestedChannels).filter((channel) => !isChannel(channel)));
  return recognizeSpeech({ channels: [...wanted], clip: outputs[0]?.clip }, source, deps);
}

/** Throws as `ReadTexts` does. */
async function readCaptions({ probe, folder, ...inputs }: TaskSource, deps: RunDeps): Promise<readonly ChannelTrack[]> {
  const run = planCaptions(inputs, probe);
  if (!run) return [];
  const files = await RunFiles.create(folder);
  await runOnSource(inputs, [run], files, deps);
  const fileOf = (name: string) => ({ path: files.pathOf(name), maxBytes: MAX_BYTES });
  const durationMs = sourceFacts(probe).durationMs ?? 0;
  const texts = await isolated("channelTexts", [fileOf(CAPTION_UNITS), fileOf(CAPTION_TIMES), durationMs], deps.signal);
  const tracks: ChannelTrack[] = [];
  for (const [channel, text] of texts) {
    const path = files.pathOf(channelFile(channel));
    await writeText(path, text);
    tracks.push(channelTrack(channel, path));
  }
  return tracks;
}

// Reads the tracks of images that outputs draw, before the outputs are encoded.

const MAX_DATA_BYTES = 100e6;
/** 4096×2304, more than the canvas of any disc. */
const MAX_PIXELS = 9_437_184;

type Deps = RunDeps & Pick<TaskDeps, "ffprobe" | "speech">;

/** Returns null for a track without packets. Throws AppError `subtitle_failed`, and as `ReadTexts`. */
export type ReadBitmaps = (track: TextTrack) => Promise<TrackBitmaps | null>;

/** Reads each track once. */
function bitmapReader(source: TaskSource, deps: Deps): ReadBitmaps {
  const read = new Map<number, ReturnType<ReadBitmaps>>();
  return (track) => {
    const bitmaps = read.get(track.streamIndex) ?? readBitmaps(track, source, deps);
    read.set(track.streamIndex, bitmaps);
    return bitmaps;
  };
}

async function readBitmaps(track: TextTrack, source: TaskSource, deps: Deps): Promise<TrackBitmaps | null> {
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

const Packets = z.object({ packets: z.array(z.object({ pts_time: z.coerce.number(), size: z.string() })) });

/** Returns the time of the first image, in ms. Throws if all images are empty: ffmpeg makes an empty one at first. */
async function firstImage(path: string, { ffprobe, signal }: Deps): Promise<number> {
  const options = ["-f", "nut", "-show_entries", "packet=pts_time,size"];
  const allowed = { demuxers: "nut", decoders: "png" };
  const { stdout } = await readOwnFile(runFfprobe({ ffprobe, path, options, signal, allowed }));
  const { packets } = Packets.parse(JSON.parse(stdout));
  const [first] = packets;
  if (!first || packets.every(({ size }) => size === first.size)) throw unreadable("none of its images can be decoded");
  return first.pts_time * 1000 - BITMAPS_ORIGIN_MS;
}

const unreadable = (reason: string): AppError => new AppError("subtitle_failed", reason);
