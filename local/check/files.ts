// The files of the repository that checks read.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../home/constants.ts";

/** Written by other programs, in their form. */
const GENERATED = ["worker/wrangler-env/generated.d.ts"];

/** Paths of tracked and new files from the repository's root, without ignored, deleted and generated ones. */
export const listFiles = (pattern = /\.(tsx?|mjs|md)$/): string[] =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"], {
    cwd: ROOT,
    encoding: "utf8",
  })
    .split("\n")
    .filter((file) => pattern.test(file) && !GENERATED.includes(file) && existsSync(join(ROOT, file)));
