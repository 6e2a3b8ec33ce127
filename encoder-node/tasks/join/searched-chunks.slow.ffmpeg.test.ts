// A requested VMAF in a chunked job: each chunk searches its own rate factor, and the chunks still fit together.
import { afterAll, beforeAll, expect, it } from "vitest";
import { specOf } from "#shared/testing/output-specs.ts";
import {
  type ChunkTestBed,
  chunkTasks,
  encodeInChunks,
  leaseOf,
  openChunkTestBed,
} from "../../testing/chunked-jobs.ts";
import { REFERENCE_FFMPEG } from "../../testing/plan-runs.ts";
import { chunk } from "../chunk/chunk.ts";

let testBed: ChunkTestBed;
beforeAll(async () => {
  testBed = await openChunkTestBed(["ntsc.mp4"]);
}, 120_000);
afterAll(() => testBed.close());

const outputs = ["mp4:::quality=vmaf90", "mp4:hevc::quality=vmaf85"].map((format, index) => specOf({ format }, index));

it("searches in each chunk", async () => {
  const { job, chunks } = await chunkTasks(testBed, "ntsc.mp4", outputs);
  const [task] = chunks;
  if (!task) throw new Error("No chunk");
  const deps = testBed.node.depsOf(leaseOf(job, "chunk-0"), task, testBed.bucket);
  const result = await chunk(task, { ...deps, ffmpeg: { ...deps.ffmpeg, path: REFERENCE_FFMPEG } });
  if (result.kind !== "chunk") throw new Error("Not the result of a chunk");
  expect(result.targets).toMatchObject([
    { output: 0, target: { vmaf: 90, size: "160x90", tried: [] } },
    { output: 1, target: { vmaf: 85, size: "160x90", tried: [] } },
  ]);
  expect(result.targets?.every(({ target }) => target.measured !== null)).toBe(true);
}, 120_000);

it("joins chunks with different rate factors", async () => {
  let at = 0;
  const { result } = await encodeInChunks(testBed, "ntsc.mp4", outputs, undefined, undefined, (task) => {
    at += 1;
    const withFactor = task.outputs.map((spec) =>
      spec.type === "video" && spec.video
        ? { ...spec, video: { ...spec.video, rate: { vmaf: 90, maxrateKbps: null, rateFactor: 20 + 5 * at } } }
        : spec,
    );
    return { ...task, outputs: withFactor };
  });
  expect(result.outputs).toHaveLength(2);
  expect(result.outputs.every(({ status }) => status === "made")).toBe(true);
}, 120_000);
