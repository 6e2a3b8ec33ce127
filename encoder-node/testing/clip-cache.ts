// Clips that ffmpeg makes for tests. A run with the same program, arguments and input files happens once on a machine.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { extname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { toolEnvironment } from "../ffmpeg/sandbox/tool-environment.ts";

const run = promisify(execFile);
const CACHE = join(import.meta.dirname, "../../node_modules/.cache/copra-clips");
/** Larger files stay out of the cache. */
const MOST_BYTES = 2 ** 25;
/** Clips that no test has used for so long are removed. */
const UNUSED_MS = 7 * 24 * 3600 * 1000;

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();

/** Runs an ffmpeg in a folder with these arguments before the file name. Replaces the file. */
export async function makeCached(tool: string, argv: readonly string[], name: string, folder: string): Promise<void> {
  const before = filesIn(folder);
  const key = keyOf(tool, argv, folder, before);
  const path = resolve(folder, name);
  const cached = join(CACHE, `${key}${extname(name)}`);
  if (key !== null && existsSync(cached)) {
    utimesSync(cached, new Date(), new Date());
    return copyFileSync(cached, path);
  }
  await run(tool, ["-v", "error", "-nostdin", "-y", ...argv, name], { env: toolEnvironment(), cwd: folder });
  // Another file beside it, such as a palette, would be missing next time.
  const isAlone = filesIn(folder).every((file) => file === name || before.includes(file));
  if (key === null || !isAlone || !existsSync(path) || statSync(path).size > MOST_BYTES) return;
  mkdirSync(CACHE, { recursive: true });
  const draft = `${cached}-${process.pid}`;
  copyFileSync(path, draft);
  renameSync(draft, cached);
  for (const file of filesIn(CACHE).map((name) => join(CACHE, name))) {
    const unused = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (unused > UNUSED_MS) rmSync(file, { force: true });
  }
}

/** Null if the arguments may name files that are unknown here: in other folders, or in a list. */
function keyOf(tool: string, argv: readonly string[], folder: string, files: readonly string[]): string | null {
  if (argv.some((argument) => /^concat$|\.m3u8|\.mpd|(?:^|[=:])\//.test(argument))) return null;
  const hash = createHash("sha256").update(JSON.stringify([statSync(tool).size, argv]));
  for (const file of files) {
    if (argv.some((argument) => argument.includes(file))) hash.update(file).update(readFileSync(join(folder, file)));
  }
  return hash.digest("hex");
}
