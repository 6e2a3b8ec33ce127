// Processes sources whose tracks start or end at different times, in all containers, as outputs of all containers.
import { expect, it } from "vitest";
import { everyNth } from "../few.ts";
import { processSource } from "../jobs/process-source.ts";
import { workshopOfFile } from "../workshop-of-file.ts";
import {
  lateAudio,
  lateVideo,
  shortAudio,
  shortVideo,
  TRACK_STREAM,
  type TrackSource,
  videoLost,
} from "./track-sources.ts";

const workshop = workshopOfFile();

const UNEVEN = Object.entries({ shortAudio, shortVideo, lateAudio, lateVideo });
const SOURCES = ["mp4", "mkv", "webm", "mov", "ts", "mpg", "avi", "flv", "ogv"].flatMap((extension) =>
  UNEVEN.map(([name, make]): [string, string, TrackSource] => [name, extension, make]),
);
const FORMATS = [
  ...["mp4", "webm", "mkv", "mov", "mpegts", "avi", "flv", "ogv", "asf", "3gp", "mp4::x", "mp4:x", "mpegts:x"],
  ...["mp3", "aac", "wav", "flac", "m4a", "ogg", "opus", "jpg"],
];
const OUTPUTS = [TRACK_STREAM, ...FORMATS.map((format) => ({ format }))];

it.each(everyNth(5, SOURCES))("makes all outputs of %s.%s", async (_, extension, make) => {
  const { outputs } = await processSource(await make(workshop, extension), OUTPUTS);
  const failures = outputs.map((output, at) => (output.ok ? null : [OUTPUTS[at]?.format, output.failure.message]));
  expect(failures.filter((failure) => failure !== null)).toEqual([]);
});

it.each(everyNth(2, ["mp4", "mkv", "flv", "mov"]))(
  "fails all outputs whose video is lost half-way: %s",
  async (extension) => {
    const path = await videoLost(workshop, extension);
    const formats = FORMATS.filter((format) => /^(mp4|webm|mkv|mov|mpegts|avi|flv|asf|3gp|mp4::x)$/.test(format));
    const { outputs } = await processSource(
      path,
      formats.map((format) => ({ format })),
    );
    for (const [at, output] of outputs.entries()) {
      expect(output, formats[at]).toMatchObject({
        failure: { message: expect.stringMatching(/^The video of the result/) },
      });
    }
  },
);
