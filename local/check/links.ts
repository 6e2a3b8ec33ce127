// Finds broken links and paths in Markdown files.
import { posix } from "node:path";

/** A path of this repository in backticks: `worker/job/` or `shared/errors.ts`, but not `npm run`. */
const PATH = /`((?:shared|worker|encoder-node|local|test|bench|examples|docs|migrations)\/[\w./-]*)`/g;
const LINK = /\]\(([^)\s]+)\)/g;

/** GitHub's anchor of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");

export const anchorsOf = (markdown: string): Set<string> =>
  new Set([...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading)));

export type Repository = {
  /** True if a file or folder has this path from the root. */
  readonly exists: (path: string) => boolean;
  readonly read: (path: string) => string;
};

/** The broken links and paths of a Markdown file, as `file:line: target`. URLs of other sites are not checked. */
export function brokenLinks(file: string, { exists, read }: Repository): string[] {
  // Code blocks may contain examples of links.
  const lines = read(file)
    .replaceAll(/```[\s\S]*?```/g, (block) => block.replaceAll(/[^\n]/g, ""))
    .split("\n");
  const broken = (target: string): boolean => {
    if (/^[a-z]+:/.test(target)) return false;
    const [path = "", anchor] = target.split("#");
    const linked = path === "" ? file : posix.normalize(posix.join(posix.dirname(file), path));
    if (!exists(linked)) return true;
    return anchor !== undefined && linked.endsWith(".md") && !anchorsOf(read(linked)).has(anchor);
  };
  return lines.flatMap((line, at) => [
    ...[...line.matchAll(LINK)].flatMap(([, target = ""]) => (broken(target) ? [`${file}:${at + 1}: ${target}`] : [])),
    ...[...line.matchAll(PATH)].flatMap(([, path = ""]) => (exists(path) ? [] : [`${file}:${at + 1}: ${path}`])),
  ]);
}
