// A requested VMAF in a chunked job: each chunk searches its own rate factor, and the chunks still fit together.
import { afterAll, beforeAll, expect, it } from "vitest";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { specOf } from "#shared/testing/output-specs.ts";
import {
  type ChunkTestBed,
  chunkTasks,
  encodeInChunks,
  leaseOf,
  openChunkTestBed,
} from "../../testing/jobs/chunked-jobs.ts";
import { REFERENCE_FFMPEG } from "../../testing/plan-runs.ts";
import { chunk } from "../chunk/chunk.ts";

let testBed: ChunkTestBed;
beforeAll(async () => {
  testBed = await openChunkTestBed(["ntsc.mp4"]);
});
afterAll(() => testBed.close());

const outputs = ["mp4:::quality=vmaf90", "mp4:hevc::quality=vmaf85"].map((format, index) => specOf({ format }, index));

it("searches a rate factor in each chunk", async () => {
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
  expect(result.targets?.every(({ target }) => target.samples !== null)).toBe(true);
});

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
});

it("joins a stream without the variants that save few bits, although their chunks exist", async () => {
  const params = { variants: ["mp4:x90", "mp4:x80", "mp4:x60"], hls: { path: "hls" }, dash: { path: "dash" } };
  const stream = specOf({ format: "httpstream", params }, 0);
  const dropped = [{ track: "80p", width: 142, height: 80, kbps: 90, above: { track: "90p", kbps: 100 } }];
  const joined = (task: TaskOf<"join">): TaskOf<"join"> => ({ ...task, outputs: task.outputs.map(lessSimilar) });
  const lessSimilar = (spec: OutputSpec): OutputSpec => (spec.type === "httpstream" ? { ...spec, dropped } : spec);
  const { result, storage } = await encodeInChunks(testBed, "ntsc.mp4", [stream], undefined, joined);
  expect(result.outputs).toMatchObject([{ status: "made", dropped, note: expect.stringContaining("Without 80p") }]);
  const names = [...storage.objects.keys()];
  expect(names.filter((name) => name.includes("80p"))).toEqual([]);
  expect(names.filter((name) => /[^0-9]60p/.test(name)).length).toBeGreaterThan(10);
  const manifests = names.filter((name) => /\.(mpd|m3u8)$/.test(name));
  expect(manifests.map((name) => String(storage.objects.get(name))).join("")).not.toContain("80p");
});
