import { expect, it } from "vitest";
import { parallelRuns } from "./parallel-runs.ts";

const GIB = 2 ** 30;
const HD = { width: 1920, height: 1080, mostChunks: 100 };
const x264 = (width: number, height: number) => ({ encoder: "libx264", width, height });
const vp9 = { encoder: "libvpx-vp9", width: 854, height: 480 };
const LADDER = [x264(426, 240), x264(640, 360), x264(854, 480), x264(1280, 720), x264(1920, 1080)];

it.each<[string, Parameters<typeof parallelRuns>[1], number, number, number | string]>([
  ["two cores", [x264(854, 480)], 2, 8, 1],
  ["four cores", [x264(854, 480)], 4, 8, 1],
  ["480p on 16 cores, of which the decoder uses some", [x264(854, 480)], 16, 64, 1],
  ["480p on 32 cores", [x264(854, 480)], 32, 128, "several"],
  ["VP9 on 8 cores", [vp9], 8, 32, "several"],
  ["VP9 on 16 cores", [vp9], 16, 64, "several"],
  ["a full ladder on 16 cores", LADDER, 16, 64, 1],
  ["a full ladder on 64 cores", LADDER, 64, 256, "several"],
  ["an encoder that is not known", [{ ...vp9, encoder: "libsvtav1" }], 64, 256, 1],
  ["hardware", [{ ...vp9, encoder: "h264_nvenc" }], 64, 256, 1],
  ["little memory", [x264(1920, 1080)], 64, 2, 1],
  ["audio only", [], 64, 64, 1],
])("%s", (_, tracks, cpus, memoryGib, expected) => {
  const runs = parallelRuns(HD, tracks, { cpus, memoryBytes: memoryGib * GIB });
  if (expected === "several") expect(runs).toBeGreaterThan(1);
  else expect(runs).toBe(expected);
});

it("makes no more runs than there are chunks", () => {
  const runs = parallelRuns({ ...HD, mostChunks: 3 }, [vp9], { cpus: 64, memoryBytes: 256 * GIB });
  expect(runs).toBe(3);
});

it("never uses more memory than the machine has for it, nor more runs than cores", () => {
  for (const cpus of [1, 3, 8, 24, 128]) {
    for (const memoryGib of [1, 4, 16, 512]) {
      const runs = parallelRuns(HD, LADDER, { cpus, memoryBytes: memoryGib * GIB });
      expect(runs).toBeLessThanOrEqual(cpus);
      if (runs > 1) expect(runs * 2.6).toBeLessThan(memoryGib);
    }
  }
});
