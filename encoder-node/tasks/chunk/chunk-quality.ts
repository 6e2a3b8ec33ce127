// The measured quality of a chunk is stored at the end of its file. The node that joins the chunks merges it.
import { constants } from "node:fs";
import * as z from "zod";
import { hasTracks, type OutputSpec } from "#shared/job/output-spec.ts";
import { MAX_PSNR, MAX_SSIM, MAX_VMAF } from "#shared/job/quality.ts";
import type { ChunkRequest } from "#shared/plan/tasks/plan-chunk.ts";
import { Line } from "#shared/protocol/reported-text.ts";
import { MAX_LENGTH_MS } from "#shared/report-limits.ts";
import type { Prepared } from "../../prepare/prepare.ts";
import { measureTracks } from "../../quality/measure-tracks.ts";
import { lineOf, type TrackQuality } from "../../quality/quality-report.ts";
import { openFile } from "../../run-files/open-file.ts";
import type { EncodedTrack } from "../../workspace/scratch.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { lastBox } from "./chunk-file.ts";

/** A box that players skip (ISO/IEC 14496-12 §8.1.2). */
const BOX = "free";
const HEADER_BYTES = 8;
const MAX_SAMPLES = 1_000_000;

const Side = z.int().min(1).max(100_000);
const Size = z.object({ width: Side, height: Side });
const value = (most: number) => z.number().min(-1).max(most);

/** Another node wrote these values. This node's report includes them and must stay within the protocol's limits. */
const ChunkQuality = z.union([
  z.object({
    measured: z.object({
      model: Line(60),
      size: Size,
      shown: Size,
      every: z.int().min(1),
      /** Time since the first frame of the chunk, in ms; VMAF, PSNR and SSIM. */
      samples: z
        .array(z.tuple([z.number().min(0).max(MAX_LENGTH_MS), value(MAX_VMAF), value(MAX_PSNR), value(MAX_SSIM)]))
        .max(MAX_SAMPLES),
    }),
  }),
  z.object({ failure: Line(300) }),
]);

/** Measures the tracks of a chunk whose outputs ask for it, and appends the results to the track files. */
export async function measureChunk(
  chunk: Prepared & Pick<ChunkRequest, "chunk">,
  tracks: readonly EncodedTrack[],
  deps: TaskDeps,
): Promise<void> {
  const outputs = chunk.outputs.map((spec) => ({ spec, videos: tracks.filter(({ output }) => output === spec.index) }));
  for await (const { output, tracks: qualities } of measureTracks({ ...chunk, outputs }, deps)) {
    for (const quality of qualities) {
      const track = tracks.find((candidate) => candidate.output === output && candidate.track === quality.track);
      if (track) await appendQuality(track.path, quality);
    }
  }
}

/** Appends the measured quality to the file of a chunk. */
export async function appendQuality(path: string, quality: TrackQuality): Promise<void> {
  const file = await openFile(path, constants.O_WRONLY | constants.O_APPEND);
  try {
    await file.appendFile(boxOf(quality));
  } finally {
    await file.close();
  }
}

function boxOf(quality: TrackQuality): Buffer {
  const body = Buffer.from(
    JSON.stringify("failure" in quality ? { failure: lineOf(quality.failure) } : packed(quality)),
  );
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(HEADER_BYTES + body.length, 0);
  header.write(BOX, 4, "latin1");
  return Buffer.concat([header, body]);
}

function packed({ measured: { samples, ...measured } }: Extract<TrackQuality, { measured: unknown }>): object {
  const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));
  const tuples = samples.map(({ timeMs, vmaf, psnr, ssim }) => [
    ...[rounded(timeMs, 1), rounded(vmaf, 3), rounded(psnr, 3), rounded(ssim, 5)],
  ]);
  return { measured: { ...measured, samples: tuples } };
}

/** Returns the quality of a chunk that starts at a time of its output (ms); null if its file has no quality. */
export async function readChunkQuality(path: string, track: string, beginsMs: number): Promise<TrackQuality | null> {
  const body = await lastBox(path, BOX);
  const parsed = body && ChunkQuality.safeParse(parseJson(body));
  if (!parsed?.success) return null;
  if ("failure" in parsed.data) return { track, failure: parsed.data.failure };
  const { samples: tuples, ...measured } = parsed.data.measured;
  const samples = tuples.map(([at, vmaf, psnr, ssim]) => ({ timeMs: beginsMs + at, vmaf, psnr, ssim }));
  return { track, measured: { ...measured, samples } };
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}

/** Merges the qualities of an output's chunks: each track gets the samples of all its chunks. */
export function mergeQualities(chunks: readonly TrackQuality[]): TrackQuality[] {
  const tracks = Map.groupBy(chunks, ({ track }) => track);
  return [...tracks].flatMap(([track, parts]): TrackQuality[] => {
    const measured = parts.flatMap((part) => ("measured" in part ? [part.measured] : []));
    const failure = parts.flatMap((part) => ("failure" in part ? [part.failure] : []))[0];
    const [first] = measured;
    return [
      ...(first ? [{ track, measured: { ...first, samples: measured.flatMap(({ samples }) => samples) } }] : []),
      ...(failure === undefined ? [] : [{ track, failure }]),
    ];
  });
}

/** True if the quality of an output is measured. */
export const isMeasured = (spec: OutputSpec): boolean => hasTracks(spec) && spec.measuresQuality === true;
