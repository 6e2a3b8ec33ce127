// Processes sources whose tracks start or end at different times, or are lost in part.
import { expect, it } from "vitest";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { processSource } from "../jobs/process-source.ts";
import { workshopOfFile } from "../workshop-of-file.ts";
import { trackSeconds } from "./track-seconds.ts";
import {
  lateAudio,
  longVideoLost,
  oneFrame,
  shortAudio,
  TRACK_STREAM,
  type TrackSource,
  videoLost,
} from "./track-sources.ts";

const workshop = workshopOfFile();

const formats = (...names: readonly string[]): OutputOptions[] => names.map((format) => ({ format }));

it("makes a stream with an audio-only variant from a video whose audio ends early", async () => {
  const { outputs } = await processSource(await shortAudio(workshop, "mp4"), [TRACK_STREAM, ...formats("mp4", "mp3")]);
  expect(outputs).toMatchObject([{ ok: true }, { ok: true }, { ok: true }]);
  const [stream, file, audio] = outputs.map((output) => (output.ok ? (output.files[0] ?? "") : ""));
  for (const path of [stream, file]) expect(await trackSeconds(path ?? "")).toEqual({ video: 3, audio: 1.5 });
  expect(await trackSeconds(audio ?? "")).toEqual({ audio: 1.5 });
});

it("fails outputs whose video is lost half-way, and makes the audio outputs", async () => {
  const path = await videoLost(workshop, "mp4");
  const { outputs } = await processSource(path, [TRACK_STREAM, ...formats("mp4", "mpegts", "mp4::x", "mp3", "m4a")]);
  const message =
    /^The video of the result ends at 1\.\d\d s instead of 3\.00 s; the source may be damaged or truncated$/;
  const failed = { ok: false, failure: { code: "encoding_failed", message: expect.stringMatching(message) } };
  expect(outputs).toMatchObject([failed, failed, failed, failed, { ok: true }, { ok: true }]);
});

const images = (offsets: readonly number[]): OutputOptions => ({ format: "jpg:64x", params: { offsets } });

it.each<[string, OutputOptions[], TrackSource, boolean[]]>([
  ["next to a video", [{ format: "mp4" }, images([0, 1]), images([0, 2.5])], videoLost, [false, true, false]],
  ["by themselves", [images([0, 1]), images([0, 2.5])], videoLost, [true, false]],
  ["as an animation", [{ format: "gif:64x", params: { scene: { number: 2, duration: 0.2 } } }], videoLost, [false]],
  ["as sprite sheets", [{ format: "jpg:64x", number: 3, params: { sprite: true } }], videoLost, [false]],
  ["of a single frame", [images([0]), { format: "jpg:64x", number: 3 }], oneFrame, [true, true]],
  ["by seeking", [images([31])], longVideoLost, [true]],
  ["by seeking after the loss", [images([38])], longVideoLost, [false]],
])("makes images only of video that can be decoded: %s", async (_, requests, make, succeeded) => {
  const { outputs } = await processSource(await make(workshop, "mp4"), requests);
  expect(outputs.map(({ ok }) => ok)).toEqual(succeeded);
  for (const [at, output] of outputs.entries()) {
    const message =
      /^The input's video ends before \d+\.\d\d s, the timestamp of an image; only its frames up to \d|^Most of the video .* cannot be decoded; /;
    if (!output.ok && requests[at]?.format !== "mp4") expect(output.failure.message).toMatch(message);
  }
});

it("makes audio files without timestamps from a video whose audio starts late", async () => {
  const path = await lateAudio(workshop, "mkv");
  const { outputs } = await processSource(path, formats("mp3", "aac", "wav", "flac", "m4a", "mp4"));
  for (const output of outputs) expect(output).toMatchObject({ ok: true });
});
