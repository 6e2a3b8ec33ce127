import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { fileFolder } from "../../../test/fixtures.ts";
import type { TrackQuality } from "../../quality/quality-report.ts";
import { qualityReport } from "../../quality/quality-report.ts";
import { makeClip } from "../../testing/plan-runs.ts";
import { openJoinedTrack } from "../join/join-track.ts";
import { readChunkFacts } from "./chunk-file.ts";
import { appendQuality, mergeQualities, readChunkQuality } from "./chunk-quality.ts";

const folder = fileFolder();
beforeAll(async () => {
  const encode = "-c:v libx264 -preset ultrafast -movflags +frag_keyframe+empty_moov+default_base_moof";
  await makeClip(folder, "chunk.mp4", `-f lavfi -i testsrc2=s=64x36:r=25:d=1 ${encode}`);
});

const size = { width: 64, height: 36 };
const measured = (vmaf: number): TrackQuality => ({
  track: "video",
  measured: {
    model: "vmaf_v0.6.1",
    size,
    shown: { width: 1920, height: 1080 },
    every: 6,
    samples: [0, 500].map((timeMs) => ({ timeMs, vmaf, psnr: 40, ssim: 0.98 })),
  },
});

test("the quality of a chunk is stored in its file, and the join merges the qualities of all chunks", async () => {
  const path = join(folder, "chunk.mp4");
  const plain = await readChunkFacts(path, "video");
  expect(await readChunkQuality(path, "video", 0)).toBeNull();
  const qualities = [];
  for (const [at, quality] of [measured(90), measured(80), { track: "video", failure: "unlike" }].entries()) {
    const chunk = join(folder, `${at}.mp4`);
    await copyFile(path, chunk);
    await appendQuality(chunk, quality);
    expect(await readChunkFacts(chunk, "video")).toEqual(plain);
    qualities.push(await readChunkQuality(chunk, "video", at * 1000));
  }
  const report = qualityReport(mergeQualities(qualities.filter((quality) => quality !== null)));
  expect(report).toMatchObject({
    renditions: [{ track: "video", ...size, frames: 4, every: 6, vmaf: { mean: 85 }, series: { vmaf: [90, 80] } }],
    error: "unlike",
  });
  const joined = await openJoinedTrack(join(folder, "joined.mp4"), "video");
  await joined.append(join(folder, "0.mp4"));
  await joined.close();
  expect(await readChunkQuality(join(folder, "joined.mp4"), "video", 0)).toBeNull();
});
