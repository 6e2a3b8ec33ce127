// Chapters of a source in its outputs, whole and trimmed.
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { printedChapters } from "#shared/media/chapters.ts";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { encodeClip, encodeOne, FFPROBE, makeClip, probe } from "../../testing/plan-runs.ts";

const folder = fileFolder();
const at = (name: string): string => path.join(folder, name);
const MEDIA = "-f lavfi -i testsrc2=s=64x36:r=25:d=30 -f lavfi -i sine=d=30";
const TITLES = ["Intro", "ü = # ; \\ 'x' & <b>", ""];

/** A file of tags with chapters of some seconds. */
async function tags(name: string, titles: readonly string[], seconds: number): Promise<string> {
  const sections = titles.map((title, index) => [
    ...["[CHAPTER]", "TIMEBASE=1/1", `START=${index * seconds}`, `END=${(index + 1) * seconds}`],
    `title=${title.replaceAll(/[=;#\\\n]/g, String.raw`\$&`)}`,
  ]);
  await writeFile(at(name), [";FFMETADATA1", ...sections.flat(), ""].join("\n"));
  return at(name);
}

beforeAll(async () => {
  const input = `-i ${await tags("chapters.txt", TITLES, 10)} -map_chapters 2 -c:v libx264 -preset ultrafast -g 50`;
  await makeClip(folder, "source.mkv", `${MEDIA} ${input} -c:a flac`);
  await makeClip(folder, "source.mp4", `-i ${at("source.mkv")} -c copy -strict -2`);
  const many = Array.from({ length: 3000 }, (_, index) => `${index}\u0001${"x".repeat(2000)}`);
  const hostile = `-i ${await tags("many.txt", many, 1)} -map_chapters 1 -c copy`;
  await makeClip(folder, "hostile.mkv", `-i ${at("source.mkv")} ${hostile}`);
});

/** As the node reads them. */
const chaptersOf = (file: string) =>
  printedChapters(
    JSON.parse(execFileSync(FFPROBE, ["-v", "error", "-show_chapters", "-of", "json", file]).toString()),
  ).map(({ startMs, endMs, title }) => [startMs, endMs, title]);

const [A = "", B = "", C = ""] = TITLES;
const ALL = [
  [0, 10_000, A],
  [10_000, 20_000, B],
  [20_000, 30_000, C],
];
const TRIMMED = [
  [0, 2000, B],
  [2000, 7000, C],
];
test.each<[source: string, output: OutputOptions, chapters: unknown[]]>([
  ["source.mkv", { format: "mp4:x36" }, ALL],
  ["source.mp4", { format: "mkv:x36" }, ALL],
  ["source.mp4", { format: "webm:vp9_x36" }, ALL],
  ["source.mkv", { format: "mov::pcm-s16le", params: { audio: [{ from: 1 }] } }, ALL],
  ["source.mkv", { format: "m4a" }, ALL],
  ["source.mkv", { format: "mp4:copy:copy" }, ALL],
  ["source.mkv", { format: "mp4:x36", params: { offset: 18, duration: 7 } }, TRIMMED],
  ["source.mkv", { format: "mkv:x36::2pass", params: { offset: 18, duration: 7 } }, TRIMMED],
  ["source.mp4", { format: "mkv:x36", clip: { startMs: 18_000, endMs: 25_000 } }, TRIMMED],
  ["source.mp4", { format: "mp4:copy:copy", clip: { startMs: 18_000, endMs: 25_000 } }, TRIMMED],
  ["source.mkv", { format: "mp4:x36::metadata=0" }, []],
  ["source.mkv", { format: "mp4:x36::frag" }, []],
])("%s as %j has the chapters %j", async (source, output, chapters) => {
  const file = await encodeOne(at(source), output);
  // Matroska copies start at a keyframe, and a file starts a millisecond before its first frame.
  const rounded = chaptersOf(file).map(([start, end, title]) => [round(start), round(end), title]);
  expect(rounded).toEqual(chapters);
  const kinds = (await probe(file)).streams.map(({ codec_type }) => codec_type);
  expect(kinds.filter((kind) => kind === "video" || kind === "audio")).toEqual(
    kinds.slice(0, kinds[1] === "audio" ? 2 : 1),
  );
});
const round = (ms: unknown): number => 200 * Math.round(Number(ms) / 200);

test("thousands of chapters with long titles and control characters do not fail a source", async () => {
  const { commands, failures } = await encodeClip(at("hostile.mkv"), [{ format: "mkv:x36" }]);
  expect([commands.length, failures]).toEqual([1, []]);
});

test("a source without chapters has the arguments of before", async () => {
  await makeClip(folder, "plain.mkv", `${MEDIA} -t 1 -c:v libx264 -preset ultrafast`);
  const { commands } = await encodeClip(at("plain.mkv"), [{ format: "mp4:x36" }]);
  const argv = commands.flatMap(({ runs }) => runs.flatMap((run) => run.argv));
  expect(argv[argv.indexOf("-map_chapters") + 1]).toBe("-1");
  expect(argv.filter((argument) => argument === "-i")).toHaveLength(1);
});
