// Processes sources whose clock restarts or jumps, and sources with tracks that never come.
import { expect, it } from "vitest";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { few, SLOW } from "../few.ts";
import { type ProcessedOutput, processSource } from "../jobs/process-source.ts";
import { isFfmpeg5 } from "../task-deps.ts";
import { workshopOfFile } from "../workshop-of-file.ts";
import { trackSeconds } from "./track-seconds.ts";
import {
  chained,
  codecChange,
  earlyUnused,
  leaping,
  restarted,
  secondAudio,
  silentTrack,
  TRACK_STREAM,
  type TrackSource,
} from "./track-sources.ts";

const workshop = workshopOfFile();

const VIDEOS: readonly OutputOptions[] = [{ format: "mp4" }, TRACK_STREAM];
const AUDIO: OutputOptions = { format: "mp3" };
const THREE: OutputOptions = { format: "jpg:64x", number: 3 };

const firstFile = (output: ProcessedOutput | undefined): string => {
  if (!output?.ok) throw new Error(output?.failure.message ?? "No output");
  return output.files[0] ?? "";
};

few(1).each<[TrackSource, string, number]>([
  [restarted, "ts", 6],
  [restarted, "mpg", 6],
  [leaping, "ts", 4],
  [earlyUnused, "ts", 2],
  ...(isFfmpeg5 ? [] : [[earlyUnused, "ogv", 2] as [TrackSource, string, number]]),
])("makes whole outputs of a source whose clock or other streams mislead: %o, %s", async (make, extension, seconds) => {
  const path = await make(workshop, extension);
  const { outputs, probe } = await processSource(path, [...VIDEOS, AUDIO, THREE]);
  for (const [at, kinds] of [["video", "audio"], ["video", "audio"], ["audio"]].entries()) {
    const ends = await trackSeconds(firstFile(outputs[at]));
    expect(Object.keys(ends)).toEqual(kinds);
    for (const end of Object.values(ends)) expect(Math.abs(end - seconds), JSON.stringify(ends)).toBeLessThan(0.3);
  }
  expect(outputs[3]).toMatchObject({ ok: true, files: [expect.any(String), expect.any(String), expect.any(String)] });
  const lengths = probe.streams.flatMap(({ packets }) => (packets ? packets.end - packets.first : []));
  for (const length of lengths) expect(Math.abs(length - seconds)).toBeLessThan(0.3);
});

it("makes whole audio of Ogg streams that follow each other", async () => {
  const { outputs } = await processSource(await chained(workshop, "ogg"), [AUDIO, { format: "m4a" }]);
  for (const output of outputs) expect((await trackSeconds(firstFile(output))).audio).toBeCloseTo(4, 0);
});

it("adds a note where timestamps fall back and ffmpeg leaves out the rest", async () => {
  const { outputs } = await processSource(await restarted(workshop, "flv"), [...VIDEOS, AUDIO, THREE]);
  const note = expect.stringMatching(
    /^The input's timestamps fall back at 2\.\d\d s, as after a broken transmission; /,
  );
  expect(outputs).toMatchObject(outputs.map(() => ({ ok: true, note })));
});

it("adds a note where a broadcast changes its codec and its video ends long before its audio", SLOW, async () => {
  const { outputs } = await processSource(await codecChange(workshop, "ts"), VIDEOS);
  const note = expect.stringMatching(/^The input's video ends at 3\.\d\d s, its audio at [56]\.\d\d s\.$/);
  expect(outputs).toMatchObject(outputs.map(() => ({ ok: true, note })));
});

few(1).each(["webm", "mkv", "ts", "flv"])("leaves out audio that never comes, with a note: %s", async (extension) => {
  const path = await silentTrack(workshop, extension);
  const { outputs } = await processSource(path, [...VIDEOS, THREE, AUDIO, { format: "mkv:copy:copy" }]);
  const note = "The input announces audio without any data, so this output has no audio.";
  const videoOnly = { ok: true, note };
  const message = "The input announces audio without any data; use an input that has audio.";
  const failed = { ok: false, failure: { code: "input_has_no_audio", message } };
  expect(outputs).toMatchObject([videoOnly, videoOnly, { ok: true }, failed, videoOnly]);
  expect(await trackSeconds(firstFile(outputs[0]))).toEqual({ video: 2 });
});

const withAll = ({ format, params }: OutputOptions): OutputOptions => ({ format, params: { ...params, audio: "all" } });

few(1).each(["mkv", "ts"])("uses other audio than the one that never comes: %s", async (extension) => {
  const requests = [...VIDEOS, AUDIO, ...VIDEOS.map(withAll)];
  const { outputs } = await processSource(await secondAudio(workshop, extension), requests);
  const note = "Audio tracks of the input that cannot be decoded were left out: 1, 3.";
  expect(outputs.slice(3)).toMatchObject([{ note }, { note }]);
  for (const output of outputs) expect((await trackSeconds(firstFile(output))).audio).toBeCloseTo(2, 0);
});
