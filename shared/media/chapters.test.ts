import { expect, test } from "vitest";
import { Chapters, chaptersBetween, printedChapters } from "./chapters.ts";

const printed = (start: number, end: number, title?: string) => ({
  id: 7,
  start_time: start.toFixed(6),
  end_time: end.toFixed(6),
  ...(title === undefined ? {} : { tags: { title } }),
});
const chapter = (startMs: number, endMs: number, title = "") => ({ startMs, endMs, title });

test.each<[name: string, printed: object[], chapters: object[]]>([
  [
    "keeps titles and their order in time",
    [printed(5, 9, "B"), printed(0, 5, "A")],
    [chapter(0, 5000, "A"), chapter(5000, 9000, "B")],
  ],
  ["ends a chapter where the next starts", [printed(0, 9), printed(4, 6)], [chapter(0, 4000), chapter(4000, 6000)]],
  [
    "leaves out chapters without a length",
    [printed(1, 1, "A"), printed(2, 1, "B"), printed(3, 4, "C"), printed(3, 4)],
    [chapter(3000, 4000)],
  ],
  [
    "keeps gaps, and chapters before the start",
    [printed(-1, 2), printed(3, 4)],
    [chapter(-1000, 2000), chapter(3000, 4000)],
  ],
  [
    "makes a line of a title",
    [printed(0, 1, " a\u0000\n[CHAPTER]\tb\u001b\u0085 ")],
    [chapter(0, 1000, "a [CHAPTER] b")],
  ],
  ["shortens a title between two characters", [printed(0, 1, "😀".repeat(1e5))], [chapter(0, 1000, "😀".repeat(50))]],
  ["leaves out times that no media has", [printed(0, 1e300, "A"), printed(Number.NaN, 1)], []],
])("%s", (_, chapters, expected) => {
  expect(printedChapters({ chapters })).toEqual(expected);
});

test("keeps the first 500 of thousands of chapters, which a report may hold", () => {
  const all = printedChapters({
    chapters: Array.from({ length: 9000 }, (_, at) => printed(at, at + 1, "\ud800".repeat(99))),
  });
  expect(all).toHaveLength(500);
  expect(Chapters.parse(all)).toEqual(all);
  expect(JSON.stringify(all).length).toBeLessThan(100_000);
});

test.each([null, {}, { chapters: "x" }, { chapters: [{}] }])(
  "has no chapters in the output %j of ffprobe",
  (output) => {
    expect(printedChapters(output)).toEqual([]);
  },
);

test("rejects a title that would add a line to a file of tags", () => {
  expect(Chapters.safeParse([chapter(0, 1, "a\n[CHAPTER]")]).success).toBe(false);
});

test.each<[startMs: number, endMs: number | null, shown: object[]]>([
  [0, null, [chapter(0, 4000, "A"), chapter(4000, 9000, "B")]],
  [3999, 4001, [chapter(0, 1, "A"), chapter(1, 2, "B")]],
  [4000, 5000.4, [chapter(0, 1000, "B")]],
  [9000, null, []],
])("moves and trims the chapters of the part from %s to %s ms", (startMs, endMs, shown) => {
  expect(chaptersBetween([chapter(0, 4000, "A"), chapter(4000, 9000, "B")], startMs, endMs)).toEqual(shown);
});
