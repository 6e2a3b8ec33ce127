// Clips that ffmpeg generates from arguments alone. Each is made once and kept for later runs.
import { execFile } from "node:child_process";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";
import { locateFfmpeg } from "../encoder-node/ffmpeg/discover/locate.ts";
import { toolEnvironment } from "../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import { makeCached } from "../encoder-node/testing/clip-cache.ts";

const run = promisify(execFile);

/** Runs the ffmpeg that a node would use. Relative paths start at the folder of this process. */
export async function ffmpeg(argv: readonly string[]): Promise<void> {
  const { ffmpeg: tool } = await locateFfmpeg(process.env);
  await run(tool.path, ["-v", "error", "-nostdin", "-y", ...argv], { env: toolEnvironment() });
}

/** Makes the file `path` with these ffmpeg arguments before the file name. They must not name other files. */
export async function makeGenerated(argv: readonly string[], path: string): Promise<void> {
  const { ffmpeg: tool } = await locateFfmpeg(process.env);
  await makeCached(tool.path, argv, basename(path), dirname(path));
}
