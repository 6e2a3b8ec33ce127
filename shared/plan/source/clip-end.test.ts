import { expect, test } from "vitest";
import type { Clip } from "../../job/clip.ts";
import { probeOf } from "../../testing/frame-indexes.ts";
import { specOf } from "../../testing/output-specs.ts";
import { ALL_SOFTWARE } from "../encoders/software-encoders.ts";
import { planOutput } from "../tasks/plan-encode.ts";
import { chooseTracks } from "./source-tracks.ts";

const source = chooseTracks(probeOf("25/1"));
const endMs = source.video?.endMs ?? 0;
const FORMATS = [
  { format: "mp4" },
  { format: "httpstream", params: { hls: { path: "h" }, variants: ["mp4:360p"] } },
  { format: "jpg" },
  { format: "vtt", params: { from: 1 } },
];
const plans = (clip: Clip) => FORMATS.map((format) => planOutput(specOf({ ...format, clip }, 0), source, ALL_SOFTWARE));

test.each<[string, Clip, string | undefined]>([
  ["no note, if it ends with the input", { startMs: 1000, endMs }, undefined],
  ["no note, if it ends before", { startMs: 1000, endMs: 2000 }, undefined],
  ["a note, if it ends after the input", { startMs: 1000, endMs: endMs + 1000 }, "`input.end` is "],
])("gives outputs of a clip %s", (_, clip, text) => {
  const note = text === undefined ? undefined : expect.stringContaining(text);
  const notes = plans(clip).map((plan) => (plan.ok ? plan.value.planned.note : plan.error));
  expect(notes).toEqual(FORMATS.map(() => note));
});

test("fails every output of a clip that starts where the input ends", () => {
  const message = `\`input.start\` is ${endMs / 1000} s, but the input ends at ${endMs / 1000} s.`;
  const failure = { ok: false, error: { code: "input_clip_beyond_end", message } };
  expect(plans({ startMs: endMs, endMs: null })).toEqual(FORMATS.map(() => failure));
});
