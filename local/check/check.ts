// npm run check: style, types, code that nothing uses, circles between rooms, and words that have better ones.
// `npm run check -- circles words shared/plan` runs only these two, for files below that path.
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../home/constants.ts";
import { circlesOf } from "./circles.ts";
import { badWordsIn } from "./words.ts";

/** A check prints what it finds and answers whether all is well. */
type Check = (isChecked: (file: string) => boolean) => boolean;

const tool =
  (name: string, ...argv: string[]): Check =>
  () => {
    // Not by way of npx: npm would look the tools up again and may ask the network.
    const { status, error } = spawnSync(join(ROOT, "node_modules", ".bin", name), argv, {
      stdio: "inherit",
      cwd: ROOT,
    });
    if (error) console.error(error.message);
    return status === 0;
  };

const files = (): string[] =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: ROOT, encoding: "utf8" })
    .split("\n")
    .filter((file) => /\.(ts|mjs|md)$/.test(file));

const circles: Check = (isChecked) => {
  const found = circlesOf(files()).filter(({ imports }) => imports.some(({ from }) => isChecked(from)));
  for (const { folder, rooms, imports } of found) {
    console.log(`Circle in ${folder || "the top level"}: ${rooms.join(", ")}`);
    for (const { from, to } of imports) console.log(`  ${from} imports ${to}`);
  }
  return found.length === 0;
};

// This list of words names them all.
const WORD_LIST = /^local\/check\/words(\.test)?\.ts$|^docs\/glossary\.md$|^docs\/contract\.txt$/;

const words: Check = (isChecked) => {
  const found = badWordsIn(files().filter((file) => isChecked(file) && !WORD_LIST.test(file)));
  for (const { file, line, word, instead, text } of found.slice(0, 100)) {
    console.log(`${file}:${line}: "${word}": write ${instead}\n    ${text.slice(0, 140)}`);
  }
  if (found.length > 0) console.log(`${found.length} uses of words that docs/glossary.md replaces.`);
  return found.length === 0;
};

const CHECKS: Readonly<Record<string, Check>> = {
  biome: tool("biome", "check", "."),
  tsc: tool("tsc", "-b"),
  knip: tool("knip"),
  circles,
  words,
};

const asked = process.argv.slice(2);
const paths = asked.filter((name) => !Object.hasOwn(CHECKS, name));
const isChecked = (file: string) => paths.length === 0 || paths.some((path) => file.startsWith(path));
const names = Object.keys(CHECKS).filter((name) => asked.length === paths.length || asked.includes(name));

const failed = names.filter((name) => {
  console.log(`── ${name}`);
  return !CHECKS[name]?.(isChecked);
});
console.log(failed.length === 0 ? "All checks passed." : `Failed: ${failed.join(", ")}.`);
process.exitCode = failed.length === 0 ? 0 : 1;
