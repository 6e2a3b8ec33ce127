// Chapters of a source beside the playlists of its streams.
import { afterAll, beforeAll, expect, it } from "vitest";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { cuesIn, objectIn, openSubtitleJobs, type SubtitleJobs } from "../testing/jobs/subtitle-jobs.ts";

let jobs: SubtitleJobs;
beforeAll(async () => {
  jobs = await openSubtitleJobs();
  const chapter = (start: number, end: number, title: string): string =>
    `[CHAPTER]\nTIMEBASE=1/1\nSTART=${start}\nEND=${end}\n${title}`;
  await jobs.write("tags.txt", [";FFMETADATA1", chapter(0, 4, "title=A <b> & c"), chapter(4, 9, ""), ""].join("\n"));
  const media = "-f lavfi -i testsrc2=s=64x36:r=10:d=9 -f lavfi -i sine=d=9:r=48000";
  await jobs.make("plain.mkv", `${media} -c:v libx264 -c:a flac`);
  await jobs.make("chapters.mkv", "-i plain.mkv -i tags.txt -map_chapters 1 -c copy");
});
afterAll(() => jobs.close());

const PARAMS = { path: "v", hls: { path: "hls" }, dash: { path: "dash" }, variants: ["mp4:64x36"] };
const ALL = [
  [0, 4000, "A &lt;b&gt; &amp; c"],
  [4000, 9000, "Chapter 2"],
];

it.each<[name: string, output: Partial<OutputOptions>, chapters: unknown]>([
  ["of the whole source", {}, ALL],
  [
    "of a clip",
    { clip: { startMs: 1000, endMs: 7000 } },
    [
      [0, 3000, "A &lt;b&gt; &amp; c"],
      [3000, 6000, "Chapter 2"],
    ],
  ],
  ["of a clip in a single chapter", { clip: { startMs: 5000, endMs: null } }, [[0, 4000, "Chapter 1"]]],
])("a stream has the chapters %s in each package", async (_, output, chapters) => {
  const { storage } = await jobs.encode("chapters.mkv", [{ format: "httpstream", params: PARAMS, ...output }]);
  for (const name of ["hls", "dash"]) {
    const cues = cuesIn(objectIn(storage, new RegExp(`${name}/[^/]+\\.chapters\\.vtt$`)));
    // A clip starts up to a millisecond before its first frame.
    expect(cues.map(([start, end, text]) => [round(start), round(end), text])).toEqual(chapters);
  }
});

const round = (ms: number): number => 10 * Math.round(ms / 10);

it("a stream of a source without chapters has no file of chapters", async () => {
  const { storage } = await jobs.encode("plain.mkv", [{ format: "httpstream", params: PARAMS }]);
  expect([...storage.objects.keys()].filter((key) => key.includes("chapters"))).toEqual([]);
});
