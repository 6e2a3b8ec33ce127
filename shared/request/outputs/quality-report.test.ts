import { expect, test } from "vitest";
import type { OutputSpec } from "../../job/output-spec.ts";
import { needsOf } from "../../plan/tasks/needs.ts";
import { type OutputOptions, specOf } from "../../testing/output-specs.ts";
import { withQualityReport } from "./quality-report.ts";

const specs = (...outputs: OutputOptions[]): OutputSpec[] => outputs.map(specOf);
const STREAM: OutputOptions = { format: "httpstream", params: { hls: { path: "a" } } };

test("a quality report marks outputs with encoded video, and these need libvmaf", () => {
  const outputs = specs({ format: "mp4" }, STREAM, { format: "jpg:300x" }, { format: "mp3" }, { format: "mp4:copy" });
  const marked = withQualityReport(outputs, { qualityReport: true });
  if (!marked.ok) throw new Error(marked.error.message);
  expect(marked.value.map((spec) => "measuresQuality" in spec)).toEqual([true, true, false, false, false]);
  const lacksVmaf = marked.value.map((spec) => !needsOf([spec], null).some(({ anyOf }) => anyOf.includes("libvmaf")));
  expect(lacksVmaf).toEqual([false, false, true, true, true]);
});

test("outputs without a quality report stay unchanged", () => {
  const outputs = specs({ format: "mp4" }, { format: "mp3" });
  expect(withQualityReport(outputs, { qualityReport: false })).toEqual({ ok: true, value: outputs });
});

test.each([[{ format: "jpg:300x" }], [{ format: "mp3" }], [{ format: "mp4:copy" }]])(
  "a quality report of only %j is rejected",
  (output) => {
    const error = { code: "settings_not_valid", message: expect.stringContaining("`settings.quality_report` needs") };
    expect(withQualityReport(specs(output), { qualityReport: true })).toEqual({ ok: false, error });
  },
);
