// Parameter sets of real encoders.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { makeClip } from "../testing/plan-runs.ts";
import { describeSps, findSps } from "./h264-sps.ts";

const folder = fileFolder();

test.each([
  ["High", "160x90", "-profile:v high -level 4.0", "avc1.640028", 90],
  ["Baseline", "162x92", "-profile:v baseline -level 3.1", "avc1.42c01f", 92],
  ["Main", "160x90", "-profile:v main -level 3.0", "avc1.4d401e", 90],
  ["High 10", "160x90", "-profile:v high10 -pix_fmt yuv420p10 -level 4.0", "avc1.6e0028", 90],
  ["High 4:2:2", "160x91", "-profile:v high422 -pix_fmt yuv422p -level 4.0", "avc1.7a0028", 91],
  ["High 4:4:4", "161x91", "-profile:v high444 -pix_fmt yuv444p -level 4.0", "avc1.f40028", 91],
  ["with scaling lists", "160x90", "-level 4.0 -x264-params cqm=jvt", "avc1.640028", 90],
  ["interlaced", "160x92", "-flags +ildct+ilme -level 4.0", "avc1.640028", 92],
])("reads codec and size from an H.264 parameter set: %s", async (name, size, options, codec, height) => {
  const source = `-f lavfi -i testsrc=s=${size}:r=25:d=0.04,format=yuv420p`;
  await makeClip(folder, `${name.replaceAll(/[: ]/g, "-")}.h264`, `${source} -c:v libx264 ${options}`);
  const sps = findSps(await readFile(path.join(folder, `${name.replaceAll(/[: ]/g, "-")}.h264`)));
  expect(sps && describeSps(sps)).toEqual({ codec, width: Number.parseInt(size, 10), height });
});

test("a stream without parameter sets returns null", () => {
  expect(findSps(Buffer.from("00000001 09f0 00000001 6588".replaceAll(" ", ""), "hex"))).toBeNull();
  expect(findSps(Buffer.alloc(0))).toBeNull();
});
