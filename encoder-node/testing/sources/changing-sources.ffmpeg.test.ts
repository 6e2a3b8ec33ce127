// Processes sources that change midway, or whose audio is unusual. The slow tests have more of each kind.
import { join } from "node:path";
import { expect, it } from "vitest";
import { SLOW } from "../few.ts";
import { processSource } from "../jobs/process-source.ts";
import { shownFrames } from "../shown-frames.ts";
import { workshopOfFile } from "../workshop-of-file.ts";
import {
  ambisonicAudio,
  changingAudio,
  multiplex,
  oneFrameSong,
  packedFrames,
  reservedMatrix,
  stillScreen,
  turnedPhone,
} from "./changing-sources.ts";
import {
  checkContinuity,
  checkCopies,
  checkFirstFrame,
  checkProportions,
  checkReserved,
  filesOf,
  peak,
  STREAM,
} from "./changing-sources-checks.ts";

const workshop = workshopOfFile();

it("keeps the proportions of all frames of a turned phone", async () => {
  await checkProportions(await turnedPhone(workshop), "36x48");
});

it("plays late audio whose format changes, without inserted silence", async () => {
  await checkContinuity(await changingAudio(0.5)(workshop), 0.5);
});

it("mixes ambisonic audio, with its directions", SLOW, async () => {
  const path = await ambisonicAudio(workshop);
  const formats = ["mp4", "mp3", "mkv:h264:flac_multi", "mp4::aac_mono"].map((format) => ({ format }));
  const { outputs } = await processSource(path, [...formats, STREAM]);
  for (const [at, output] of outputs.entries()) {
    const file = filesOf(output)[0] ?? "";
    const [left, right] = [await peak(file, "pan=mono|c0=FL"), await peak(file, "pan=mono|c0=FR")];
    if (at === 3) expect(await peak(file, "anull")).toBeGreaterThan(2000);
    else expect(left, `output ${at}: ${left} ${right}`).toBeGreaterThan(10 * right + 2000);
  }
});

it("takes the audio of the video's channel from a multiplex", async () => {
  const path = await multiplex(workshop);
  const { outputs, probe } = await processSource(path, [{ format: "mp4" }, { format: "mp3" }]);
  expect(probe.streams.map(({ programs }) => programs)).toEqual([[1], [1], [2], [2]]);
  for (const output of outputs) expect(await peak(filesOf(output)[0] ?? "", "anull")).toBeGreaterThan(2000);
});

it("copies packed frames with a time for each frame, in the order of display", SLOW, async () => {
  const path = await packedFrames(workshop);
  // ffmpeg itself loses the last of packed frames.
  await checkCopies(path, join(workshop.folder, "unpacked.avi"));
});

it("encodes video with a reserved color matrix", SLOW, async () => {
  const options = "-c:v libx264 -pix_fmt yuv420p -bsf:v h264_metadata=matrix_coefficients=3";
  await checkReserved(await reservedMatrix("h264.mp4", options)(workshop));
});

it("shows the only frame of a song in a stream as long as the audio", SLOW, async () => {
  const path = await oneFrameSong(workshop);
  const { outputs } = await processSource(path, [STREAM]);
  const playlist = filesOf(outputs[0])[0] ?? "";
  expect((await shownFrames(playlist)).at(-1)?.seconds).toBeCloseTo(12.8, 0);
});

it("spends enough bits on a frame that is shown for long", async () => {
  await checkFirstFrame(await stillScreen(workshop), "mp4");
});
