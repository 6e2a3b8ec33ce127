// Data that another node wrote at the end of a chunk becomes part of this node's report, which must stay valid.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { QualityReport } from "#shared/job/quality.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { qualityReport } from "../../quality/quality-report.ts";
import { appendQuality, readChunkQuality } from "./chunk-quality.ts";

const folder = fileFolder();

const size = { width: 64, height: 36 };
const measured = { model: "vmaf_v0.6.1", size, shown: size, every: 6 };
const sample = [0, 90, 40, 0.98];

test.each([
  ["nothing unusual", { measured: { ...measured, samples: [sample] } }, true],
  ["a model of two lines", { measured: { ...measured, model: "a\nb", samples: [sample] } }, false],
  ["a sample of another year", { measured: { ...measured, samples: [[1e12, 90, 40, 0.98]] } }, false],
  ["an impossible VMAF", { measured: { ...measured, samples: [[0, 190, 40, 0.98]] } }, false],
  ["an impossible SSIM", { measured: { ...measured, samples: [[0, 90, 40, 98]] } }, false],
  ["a failure of two lines", { failure: "a\nb" }, false],
])("reads only valid quality data from a chunk: %s", async (_name, content, isTaken) => {
  const path = join(folder, "chunk");
  const body = Buffer.from(JSON.stringify(content));
  const header = Buffer.alloc(8, "    free", "latin1");
  header.writeUInt32BE(8 + body.length);
  await writeFile(path, Buffer.concat([header, body]));
  const quality = await readChunkQuality(path, "video", 0);
  expect(quality !== null).toBe(isTaken);
  if (quality) expect(QualityReport.safeParse(qualityReport([quality]))).toMatchObject({ success: true });
});

test("a long message of several lines is reported as a single line", async () => {
  const failure = `ffmpeg failed:\u2028no\n${"long ".repeat(100)}`;
  const path = join(folder, "failed");
  await writeFile(path, "");
  await appendQuality(path, { track: "video", failure });
  const quality = await readChunkQuality(path, "video", 0);
  for (const result of [quality, { track: "video", failure }]) {
    const report = qualityReport(result ? [result] : []);
    expect(report.error).toMatch(/^ffmpeg failed: no long/);
    expect(QualityReport.safeParse(report)).toMatchObject({ success: true });
  }
});
