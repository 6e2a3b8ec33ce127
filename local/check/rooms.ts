// Finds rooms (folders) with too many files.
import { dirname } from "node:path";

/** Folders with more files are hard to survey. */
const MOST_FILES = 15;

/** True if a file runs in production: no test, and no support for tests. */
export const isProduction = (file: string): boolean =>
  /\.tsx?$/.test(file) && !/\.test\.ts$|(^|\/)testing\/|^test\//.test(file);

/** The folders that directly contain more than 15 production files, the largest first. */
export function largeRooms(files: readonly string[]): { folder: string; files: number }[] {
  const counts = new Map<string, number>();
  for (const file of files.filter(isProduction)) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > MOST_FILES)
    .map(([folder, count]) => ({ folder, files: count }))
    .toSorted((a, b) => b.files - a.files);
}
