import { expect, it } from "vitest";
import type { DryRunPlan } from "../../../client/index.ts";
import { estimateOf, variantEstimates } from "./estimate.ts";

const source = { width: 1920, height: 1080, fps: 30, duration: 60, rotation: 0, audio: true };
const video = (size: object, rate: object) => ({ codec: "h264", size: { width: null, height: null, ...size }, rate });
const audio = { codec: "aac", bitrate_kbps: 128 };

const planOf = (spec: object, more: object = {}): DryRunPlan =>
  ({
    assumed_source: source,
    outputs: [{ key: "a", type: "video", format: "mp4", spec, ...more }],
    refusals: [],
    commands: [],
  }) as unknown as DryRunPlan;
const estimate = (plan: DryRunPlan) => plan.outputs[0] && estimateOf(plan.outputs[0], plan);

it.each<[string, object, object | null]>([
  [
    "a mean bitrate",
    { video: video({ height: 720 }, { bitrate_kbps: 2000, maxrate_kbps: null }), audio },
    { bytes: (2128 * 1000 * 60) / 8, by: "exact" },
  ],
  [
    "a maximum below what the quality needs",
    { video: video({}, { quality: 5, maxrate_kbps: 1000 }), audio: null },
    { bytes: 1000 * 1000 * 7.5, by: "most" },
  ],
  ["audio alone", { video: null, audio }, { bytes: 128 * 1000 * 7.5, by: "exact" }],
  [
    "a part of the source",
    { video: null, audio, offset_ms: 50_000, duration_ms: 30_000 },
    { bytes: 128 * 1000 * 1.25, by: "exact" },
  ],
])("estimates the size of an output with %s", (_, spec, expected) => {
  expect(estimate(planOf(spec))).toEqual(expected);
});

it("estimates no size for images, skipped outputs and rejected outputs", () => {
  expect(estimate(planOf({}, { type: "image" }))).toBeNull();
  expect(estimate(planOf({ video: null, audio }, { skipped: true }))).toBeNull();
  const refused = { ...planOf({ video: null, audio }), refusals: [{ key: "a", error: "", error_code: "" }] };
  expect(estimate(refused)).toBeNull();
});

it("estimates streams by their renditions, in each package", () => {
  const variants = [
    { video: video({ width: 1280, height: 720 }, { bitrate_kbps: 2000, maxrate_kbps: null }), audio },
    { video: null, audio: { codec: "aac", bitrate_kbps: 64 } },
  ];
  const renditions = [
    { video: "v1", audio: "a1", width: 1280, height: 720, fps: 30, packages: ["hls"] },
    { video: null, audio: "a2", packages: ["hls"] },
  ];
  const hls = planOf({ variants, hls: {}, dash: null }, { type: "httpstream", renditions });
  expect(estimate(hls)).toEqual({ bytes: (2128 + 64) * 1000 * 7.5, by: "exact" });
  const both = planOf({ variants, hls: {}, dash: {} }, { type: "httpstream", renditions });
  expect(estimate(both)?.bytes).toBe((2128 + 64) * 1000 * 15);
});

it("estimates each variant of a stream, also variants of the same size, and none for sizes that are left out", () => {
  const rate = (bitrate_kbps: number) => ({ bitrate_kbps, maxrate_kbps: null });
  const variants = [
    { video: video({ height: 432 }, rate(730)), audio },
    { video: video({ height: 432 }, rate(1100)), audio },
    { video: video({ height: 2160 }, rate(8000)), audio },
    { video: null, audio: { codec: "aac", bitrate_kbps: 64 } },
  ];
  const renditions = [
    { video: "v1", audio: "a1", width: 768, height: 432, fps: 30, packages: ["hls"] },
    { video: "v2", audio: "a1", width: 768, height: 432, fps: 30, packages: ["hls"] },
    { video: null, audio: "a2", packages: ["hls"] },
  ];
  const { outputs, assumed_source } = planOf({ variants, hls: {} }, { type: "httpstream", renditions });
  const bytes = outputs.flatMap((output) => variantEstimates(output, assumed_source)).map((one) => one?.bytes);
  expect(bytes).toEqual([858 * 7500, 1228 * 7500, undefined, 64 * 7500]);
});
