// The quality of a job's outputs, encoded in a single run and in chunks.
import { afterAll, beforeAll, expect, it } from "vitest";
import type { QualityReport } from "#shared/job/quality.ts";
import { specOf } from "#shared/testing/output-specs.ts";
import {
  type ChunkTestBed,
  encodeInChunks,
  encodeWhole,
  type Outputs,
  openChunkTestBed,
} from "../testing/jobs/chunked-jobs.ts";
import { REFERENCE_FFMPEG } from "../testing/plan-runs.ts";
import { tools } from "../testing/task-deps.ts";

let testBed: ChunkTestBed;
beforeAll(async () => {
  testBed = await openChunkTestBed(["ntsc.mp4"]);
});
afterAll(() => testBed.close());

/** Debian builds ffmpeg without libvmaf. */
const ffmpeg = { ...tools.ffmpeg, path: REFERENCE_FFMPEG };

const OUTPUTS = [
  specOf({ format: "mp4:160x90::quality=3", measuresQuality: true }, 0),
  specOf(
    { format: "httpstream", measuresQuality: true, params: { hls: { path: "h" }, variants: ["mp4:64x36::quality=3"] } },
    1,
  ),
  specOf({ format: "mp4:64x36" }, 2),
];

const qualities = ({ result }: Outputs): (QualityReport | undefined)[] =>
  result.outputs
    .toSorted((a, b) => a.output - b.output)
    .map((report) => (report.status === "made" ? report.quality : undefined));

// VMAF is computed at 1080p for 70 s of video, twice.
it.runIf(process.env.COPRA_SOAK === "1")("measures chunks like a single run", async () => {
  const whole = qualities(await encodeWhole(testBed, "ntsc.mp4", OUTPUTS, { ffmpeg }));
  expect(whole).toMatchObject([
    { renditions: [{ track: "video", width: 160, height: 90, shown_width: 1920, shown_height: 1080, every: 7 }] },
    { renditions: [{ track: "36p", width: 64, height: 36, model: "vmaf_v0.6.1" }] },
    undefined,
  ]);
  expect(whole[0]).not.toHaveProperty("error");
  const [video] = whole[0]?.renditions ?? [];
  expect(video?.series?.vmaf.length).toBe(70);
  expect(video?.series?.vmaf.filter((point) => point === null)).toEqual([]);
  const bucket = { ...testBed.bucket, ffmpeg };
  const outputs = OUTPUTS.filter(({ index }) => index !== 1);
  const chunked = qualities(await encodeInChunks({ ...testBed, bucket }, "ntsc.mp4", outputs));
  expect(chunked).toMatchObject([{ renditions: [{ track: "video", every: 7 }] }, undefined]);
  const [single, many] = [whole[0]?.renditions[0], chunked[0]?.renditions[0]];
  expect(many?.series?.vmaf.length).toBe(single?.series?.vmaf.length);
  expect(Math.abs((many?.vmaf.mean ?? 0) - (single?.vmaf.mean ?? 0))).toBeLessThan(1);
  expect(Math.abs((many?.ssim.mean ?? 0) - (single?.ssim.mean ?? 0))).toBeLessThan(0.005);
});
