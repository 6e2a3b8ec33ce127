// Clips that ffmpeg generates from arguments alone. Each is made once and kept for later runs.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { copyFile, rename } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { locateFfmpeg } from "../encoder-node/ffmpeg/discover/locate.ts";
import { toolEnvironment } from "../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import { ROOT } from "../local/home/constants.ts";

const run = promisify(execFile);
const FOLDER = join(ROOT, "node_modules", ".cache", "copra-clips");

/** Runs the ffmpeg that a node would use. Relative paths start at the folder of this process. */
export async function ffmpeg(argv: readonly string[]): Promise<void> {
  const { ffmpeg: tool } = await locateFfmpeg(process.env);
  await run(tool.path, ["-v", "error", "-nostdin", "-y", ...argv], { env: toolEnvironment() });
}

/** Makes the file `path` with these ffmpeg arguments before the file name. They must not name other files. */
export async function makeGenerated(argv: readonly string[], path: string): Promise<void> {
  const { ffmpeg: tool } = await locateFfmpeg(process.env);
  const key = createHash("sha256")
    .update(JSON.stringify([tool.version, argv]))
    .digest("hex");
  const cached = join(FOLDER, `${key}${extname(path)}`);
  if (!existsSync(cached)) {
    mkdirSync(FOLDER, { recursive: true });
    const draft = join(FOLDER, `${process.pid}-${key}${extname(path)}`);
    await ffmpeg([...argv, draft]);
    await rename(draft, cached);
  }
  await copyFile(cached, path);
}
