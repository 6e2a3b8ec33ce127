// The chapters of a source, as far as outputs show them.
import * as z from "zod";

/** More chapters, or longer titles, would make the probe too long for a report. */
const MAX_CHAPTERS = 500;
const MAX_TITLE_CHARS = 100;

/** In ms on the file's clock, as ffprobe's `start_time`. */
const Chapter = z.object({
  startMs: z.int(),
  endMs: z.int(),
  /** A line; empty: none. */
  title: z
    .string()
    .max(MAX_TITLE_CHARS)
    .regex(/^\P{Cc}*$/u),
});
export type Chapter = z.infer<typeof Chapter>;
export const Chapters = z.array(Chapter).max(MAX_CHAPTERS);

/** ffprobe's output of the fields that count. */
export const CHAPTER_ENTRIES = "chapter=start_time,end_time:chapter_tags=title";
const Seconds = z.coerce.number();
const Printed = z.object({
  chapters: z.array(
    z.object({ start_time: Seconds, end_time: Seconds, tags: z.object({ title: z.string().optional() }).optional() }),
  ),
});

/** The chapters in ffprobe's output, in time order: each ends where the next starts. None if the output is not valid. */
export function printedChapters(output: unknown): Chapter[] {
  const printed = Printed.safeParse(output).data?.chapters ?? [];
  const ascending = printed
    .map(({ start_time, end_time, tags }) => ({
      startMs: Math.round(start_time * 1000),
      endMs: Math.round(end_time * 1000),
      title: line(tags?.title ?? ""),
    }))
    .toSorted((a, b) => a.startMs - b.startMs);
  const chapters = ascending.map((chapter, at) => ({
    ...chapter,
    endMs: Math.min(chapter.endMs, ascending[at + 1]?.startMs ?? chapter.endMs),
  }));
  return chapters.filter((chapter) => isLong(chapter) && Chapter.safeParse(chapter).success).slice(0, MAX_CHAPTERS);
}

const isLong = ({ startMs, endMs }: Chapter): boolean => endMs > startMs;

const line = (title: string): string =>
  [
    ...title
      .slice(0, 10 * MAX_TITLE_CHARS)
      .toWellFormed()
      .replaceAll(/[\p{Cc}\s]+/gu, " ")
      .trim(),
  ]
    .slice(0, MAX_TITLE_CHARS / 2)
    .join("");

/** The part of the chapters between two times, moved to start at 0. `endMs` null: to the end. */
export const chaptersBetween = (all: readonly Chapter[], startMs: number, endMs: number | null): Chapter[] =>
  all
    .map(({ title, ...chapter }) => ({
      title,
      startMs: Math.round(Math.max(0, chapter.startMs - startMs)),
      endMs: Math.round(Math.min(chapter.endMs, endMs ?? chapter.endMs) - startMs),
    }))
    .filter(isLong);
