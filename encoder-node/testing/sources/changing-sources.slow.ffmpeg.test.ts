// Processes more sources that change midway, in all containers and codecs in which that can occur.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { processSource } from "../jobs/process-source.ts";
import { workshopOfFile } from "../workshop-of-file.ts";
import { changingAudio, reorderedFrames, reservedMatrix, stillScreen, wideFromTheMiddle } from "./changing-sources.ts";
import {
  checkContinuity,
  checkCopies,
  checkFirstFrame,
  checkProportions,
  checkReserved,
  filesOf,
  STREAM,
} from "./changing-sources-checks.ts";

const workshop = workshopOfFile();

it("keeps the proportions of a broadcast that becomes wide", async () => {
  await checkProportions(await wideFromTheMiddle(workshop), "64x36");
});

it("plays audio whose format changes without inserted silence", async () => {
  await checkContinuity(await changingAudio(0)(workshop), 0);
});

it.each([
  ["MPEG-4 in AVI", reorderedFrames("mpeg4.avi", "mpeg4")],
  ["MPEG-PS", reorderedFrames("mpeg2.mpg", "mpeg2video")],
  ["an elementary stream", reorderedFrames("mpeg1.m1v", "mpeg1video")],
])("copies %s with a time for each frame, in the order of display", async (_, make) => {
  await checkCopies(await make(workshop));
});

it.each([
  ["HEVC in Matroska", "hevc.mkv", "-c:v libx265 -pix_fmt yuv420p -bsf:v hevc_metadata=matrix_coefficients=3"],
  ["MPEG-2 in MPEG-TS", "mpeg2.ts", "-c:v mpeg2video -bsf:v mpeg2_metadata=matrix_coefficients=3"],
  ["VP9", "vp9.mkv", "-c:v libvpx-vp9 -cpu-used 8 -deadline realtime -colorspace 3"],
  ["MPEG-4, whose container states it", "mpeg4.mp4", "-c:v mpeg4 -colorspace 3 -color_primaries 1 -color_trc 1"],
])("encodes %s with a reserved color matrix", async (_, name, options) => {
  await checkReserved(await reservedMatrix(name, options)(workshop));
});

it.each(["mp4:::quality=4,maxrate=1000k", "mp4:hevc", "webm:vp8", "mp4:15fps"])(
  "gives frames that are shown for long their bits in %s",
  async (format) => {
    await checkFirstFrame(await stillScreen(workshop), format);
  },
);

it("makes no segment longer than announced from frames that are shown for long", async () => {
  const path = await stillScreen(workshop);
  const { outputs } = await processSource(path, [STREAM]);
  const master = filesOf(outputs[0])[0] ?? "";
  const playlist = (await readFile(master, "utf8")).split("\n").find((line) => /p\.m3u8$/.test(line)) ?? "";
  const text = await readFile(join(dirname(master), playlist), "utf8");
  const seconds = [...text.matchAll(/#EXTINF:([\d.]+)/g)].map(([, value]) => Number(value));
  expect(seconds.length).toBeGreaterThan(3);
  expect(Math.max(...seconds)).toBeLessThan(6.1);
  expect(seconds.reduce((sum, value) => sum + value, 0)).toBeCloseTo(21, 0);
});
