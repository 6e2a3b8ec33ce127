// Closed captions inside of video as text, from the bitstream to stored playlists and files.
import { afterAll, beforeAll, expect, it } from "vitest";
import { captionFrames, lettersOf, type Pair, pairsByFrame, twice } from "../../testing/jobs/captioned-clip.ts";
import { cuesIn, objectIn, openSubtitleJobs, type SubtitleJobs } from "../../testing/jobs/subtitle-jobs.ts";
import { openWorkshop } from "../../testing/source-workshop.ts";
import { parseWebVtt } from "../../text/subtitle-cues.ts";

/** Pop-on, roll-up and paint-on, one after the other. */
const FIRST_FIELD: readonly Pair[] = pairsByFrame([
  [0, [...twice(0x1420), ...twice(0x1456), ...lettersOf("POP ON")]],
  [31, twice(0x142f)],
  [91, twice(0x142c)],
  [120, [...twice(0x1425), ...twice(0x142d), ...twice(0x1470), ...lettersOf("LINE ONE")]],
  [181, [...twice(0x142d), ...twice(0x1470), ...lettersOf("LINE TWO")]],
  [241, twice(0x142c)],
  [271, [...twice(0x1429), ...twice(0x1140), ...lettersOf("PAINT ON")]],
  [332, twice(0x142c)],
]);
const THIRD_CHANNEL: readonly Pair[] = pairsByFrame([
  [0, [...twice(0x1520), ...twice(0x1470), ...lettersOf("HOLA")]],
  [43, twice(0x152f)],
  [107, twice(0x152c)],
]);

const CUES = [
  [31, 91, "POP ON"],
  [126, 181, "LINE ONE"],
  [181, 241, "LINE ONE\nLINE TWO"],
  [275, 332, "PAINT ON"],
].map(([from, to, text]) => [ntscMs(Number(from)), ntscMs(Number(to)), text]);

/** The time of a frame at 30000/1001 frames per second. */
function ntscMs(frame: number): number {
  return Math.round((frame * 1001) / 30);
}

let jobs: SubtitleJobs;
beforeAll(async () => {
  jobs = await openSubtitleJobs();
  const workshop = openWorkshop(jobs.folder);
  await captionFrames(workshop, [FIRST_FIELD, THIRD_CHANNEL], { fps: "30000/1001", seconds: 12 });
  const input = "-r 30000/1001 -i captioned.h264 -bf 3 -g 30";
  await workshop.make("h264.mp4", `${input} -c:v libx264 -b_strategy 0`);
  await workshop.make("h264.ts", "-i h264.mp4 -c copy");
  await workshop.make("mpeg2.ts", `${input} -bf 2 -c:v mpeg2video -b:v 1M`);
  await workshop.make("mpeg2.mkv", "-fflags +genpts -i mpeg2.ts -c copy");
  await workshop.make("h264.mkv", "-i h264.mp4 -c copy");
  await workshop.make(
    "hevc.mp4",
    "-r 30000/1001 -i captioned.h264 -c:v libx265 -preset ultrafast -x265-params bframes=3:log-level=error",
  );
  await workshop.make("none.mkv", "-f lavfi -i testsrc2=s=64x36:r=10:d=2 -c:v ffv1");
});
afterAll(() => jobs.close());

const vtt = (from: string) => ({ format: "vtt", params: { from } });
const only = /^0\.1$/;

it.each(["h264.mp4", "h264.ts", "h264.mkv", "mpeg2.ts", "mpeg2.mkv", "hevc.mp4"])(
  "reads captions in the order in which frames are shown, with their times to the millisecond: %s",
  async (source) => {
    const { storage, reports } = await jobs.encode(source, [vtt("cc1")]);
    expect(reports).toMatchObject([{ status: "made" }]);
    expect(cuesIn(objectIn(storage, only))).toEqual(CUES);
  },
);

it("puts channels into streams, files and text, with their places and as captions", async () => {
  const { storage, reports } = await jobs.encode("h264.mp4", [
    {
      format: "httpstream",
      params: {
        hls: { path: "h" },
        variants: ["mp4:64x36"],
        subtitles: [
          { from: "cc1", language: "en" },
          { from: "cc3", language: "es", name: "Español", shift: 1 },
        ],
      },
    },
    { format: "mp4", params: { subtitles: [{ from: "cc3" }] } },
    { format: "srt", params: { from: "cc1" } },
    { format: "jpg", params: { offsets: [2], burn: { from: "cc1" } } },
  ]);
  expect(reports).toMatchObject(Array(4).fill({ status: "made" }));
  const segment = objectIn(storage, /subtitles-1\/00001\.vtt$/);
  expect(parseWebVtt(segment)?.cues.map(({ settings }) => settings)).toEqual([
    "line:79.33%",
    "line:84.67% position:10% align:start",
    "line:79.33% position:10% align:start",
    "line:10% position:10% align:start",
  ]);
  expect(cuesIn(objectIn(storage, /subtitles-2\/00001\.vtt$/))).toEqual([[2435, 4570, "HOLA"]]);
  expect(objectIn(storage, /^h\/master\.m3u8$|master\.m3u8$/)).toMatch(
    /LANGUAGE="en",NAME="CC1",DEFAULT=NO,AUTOSELECT=YES,FORCED=NO,CHARACTERISTICS="public\.accessibility/,
  );
  expect(objectIn(storage, /^2\.1$/)).toContain("00:00:01,034 --> 00:00:03,036\nPOP ON\n");
});

it.each([
  ["h264.mp4", "cc2", "CC2"],
  ["none.mkv", "cc1", "CC1"],
])("a channel without captions is a track that the input lacks: %s", async (source, from, name) => {
  const stream = { format: "httpstream", params: { hls: { path: "h" }, variants: ["mp4:64x36"] } };
  const { reports } = await jobs.encode(source, [
    vtt(from),
    { ...stream, params: { ...stream.params, subtitles: [{ from, optional: true }] } },
  ]);
  expect(reports).toMatchObject([
    { failure: { code: "input_track_not_found", message: `The input's video has no closed captions in ${name}.` } },
    { status: "made", note: `The input's video has no closed captions in ${name}, so this output lacks it.` },
  ]);
});
