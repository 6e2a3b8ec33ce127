// The files of the repository that the checks read.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../home/constants.ts";

/** Files that other programs write in their own format. */
const GENERATED = ["worker/wrangler-env/generated.d.ts"];

/**
 * Paths of tracked and new files, relative to the repository's root. Ignored, deleted and generated files are left out.
 */
export const listFiles = (pattern = /\.(tsx?|mjs|md)$/): string[] =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"], {
    cwd: ROOT,
    encoding: "utf8",
  })
    .split("\n")
    .filter((file) => pattern.test(file) && !GENERATED.includes(file) && existsSync(join(ROOT, file)));

/** True if a file runs in production: no test, and no support for tests. */
export const isProduction = (file: string): boolean =>
  /\.tsx?$/.test(file) && !/\.test\.ts$|(^|\/)testing\/|^test\//.test(file);
