// Compares the number of lines with the committed ceiling. The ceiling falls with the code. Raising it names an issue.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../home/constants.ts";
import { listFiles } from "./files.ts";

const CEILING_FILE = "local/check/ceiling.txt";
const COUNTED = /\.(tsx?|mjs|css|sh|sql)$/;
const IS_TEST = /\.test\.tsx?$|(^|\/)testing\/|^test\//;
/** The ceiling may be this far above the count, so that not each small change has to lower it. */
const SLACK_LINES = 200;

export type Lines = Readonly<Record<"code" | "tests", number>>;

/** Lines that are not blank. */
function countLines(): Lines {
  const lines = { code: 0, tests: 0 };
  for (const file of listFiles(COUNTED)) {
    const text = readFileSync(join(ROOT, file), "utf8");
    lines[IS_TEST.test(file) ? "tests" : "code"] += text.match(/^.*\S/gm)?.length ?? 0;
  }
  return lines;
}

/**
 * Errors of the counts against `ceiling`. Each of its lines has a name, a number and, where it is above `before`, the
 * ceiling of the last commit, an issue such as `#48`.
 */
export function sizeErrors(counts: Lines, ceiling: string, before: string): string[] {
  return (["code", "tests"] as const).flatMap((kind) => {
    const limitIn = (text: string) => new RegExp(`^${kind} (\\d+)(.*)$`, "m").exec(text) ?? [];
    const [, limit = 0, reason = ""] = limitIn(ceiling);
    const [, earlier = Number.POSITIVE_INFINITY] = limitIn(before);
    if (counts[kind] > Number(limit)) return [`${counts[kind]} lines of ${kind}, at most ${limit} are allowed`];
    if (counts[kind] < Number(limit) - SLACK_LINES) return [`${counts[kind]} lines of ${kind}: lower ${limit} to that`];
    if (Number(limit) <= Number(earlier) || /#\d+/.test(reason)) return [];
    return [`The ceiling of ${kind} rises from ${earlier} to ${limit} without the number of an issue (#48)`];
  });
}

/** The ceiling before its last change, committed or not; empty if it has not changed yet. */
function ceilingBefore(now: string): string {
  const git = (...argv: string[]): string => execFileSync("git", argv, { cwd: ROOT, encoding: "utf8" });
  const commits = git("rev-list", "--max-count=2", "HEAD", "--", CEILING_FILE).split("\n").filter(Boolean);
  const versions = commits.map((commit) => git("show", `${commit}:${CEILING_FILE}`));
  return versions.find((version) => version !== now) ?? "";
}

export function sizeOfRepository(): string[] {
  const ceiling = readFileSync(join(ROOT, CEILING_FILE), "utf8");
  return sizeErrors(countLines(), ceiling, ceilingBefore(ceiling));
}
