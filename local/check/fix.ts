// npm run fix [-- path …]: formats files, applies biome's safe fixes, and wraps comments that are longer than 120
// columns.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../home/constants.ts";
import { listFiles } from "./files.ts";
import { wrapComments } from "./long-comments.ts";

const paths = process.argv.slice(2);
for (const file of listFiles(/\.tsx?$/).filter(
  (name) => paths.length === 0 || paths.some((path) => name.startsWith(path)),
)) {
  const path = join(ROOT, file);
  const text = readFileSync(path, "utf8");
  const wrapped = wrapComments(text);
  if (wrapped === text) continue;
  writeFileSync(path, wrapped);
  console.log(`Wrapped comments in ${file}`);
}
const biome = join(ROOT, "node_modules", ".bin", "biome");
const targets = paths.length > 0 ? paths : ["."];
const { status } = spawnSync(biome, ["check", "--write", ...targets], { cwd: ROOT, stdio: "inherit" });
process.exitCode = status ?? 1;
