// Text of a source of five hours, from ffmpeg's demuxers to stored files and playlists.
import { afterAll, beforeAll, expect, it } from "vitest";
import { cuesIn, objectIn, openSubtitleJobs, type SubtitleJobs, subRip } from "../../testing/jobs/subtitle-jobs.ts";

const HOURS = 5;
const CUES = Array.from({ length: HOURS * 360 }, (_, at): [number, number, string] => [
  // ffmpeg starts the clock of the clip with the first cue.
  at === 0 ? 0 : at * 10_000 + 1,
  at * 10_000 + 9001,
  `Line ${at}`,
]);

let jobs: SubtitleJobs;
beforeAll(async () => {
  jobs = await openSubtitleJobs();
  await jobs.write("long.srt", subRip(CUES));
  const video = `-f lavfi -i color=s=64x36:r=1:d=${HOURS * 3600} -c:v libx264 -preset ultrafast -g 10`;
  await jobs.make("long.mkv", `${video.replace(" -c:v", " -i long.srt -map 0 -map 1 -c:v")} -c:s srt`);
});
afterAll(() => jobs.close());

it("keeps the times of five hours of text in streams, files and text", async () => {
  const subtitles = [{ from: 1 }];
  const { storage, reports } = await jobs.encode("long.mkv", [
    { format: "httpstream", params: { hls: { path: "h" }, variants: ["mp4:64x36"], subtitles, segment_duration: 10 } },
    { format: "mp4:64x36", params: { subtitles } },
    { format: "srt", params: { from: 1 } },
    { format: "vtt", params: { from: 1, shift: -3600 } },
  ]);
  expect(reports.map(({ status }) => status)).toEqual(["made", "made", "made", "made"]);
  const last = cuesIn(objectIn(storage, /subtitles-1\/00300\.vtt$/));
  expect(last).toEqual(CUES.slice(-6));
  expect((await jobs.textsIn(storage, 1, "mp4"))[0]?.[3]).toEqual(CUES);
  expect(cuesIn(`WEBVTT\n\n${objectIn(storage, /^2\.1$/)}`)).toEqual(CUES);
  expect(cuesIn(objectIn(storage, /^3\.1$/)).at(-1)).toEqual([14_390_001, 14_399_001, "Line 1799"]);
});
