// The real ffmpeg, except that it prints a message and fails at a single size.
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { locateFfmpeg } from "../../encoder-node/ffmpeg/discover/locate.ts";

export const LIMITED_VARIABLES = ["FFMPEG_PATH", "COPRA_TOOL_FOLDERS"] as const;
type LimitedVariable = (typeof LIMITED_VARIABLES)[number];

/**
 * Makes an ffmpeg that fails at 322x182 with `message`, in which the shell replaces `$*` by its arguments. Returns the
 * environment for nodes.
 */
export async function makeLimitedFfmpeg(folder: string, message: string): Promise<Record<LimitedVariable, string>> {
  const { ffmpeg } = await locateFfmpeg(process.env);
  const path = join(folder, "limited-ffmpeg");
  const script = `#!/bin/sh\ncase "$*" in *322:182*) echo "${message}" >&2; exit 1;; esac\nexec "${ffmpeg.path}" "$@"\n`;
  await writeFile(path, script, { mode: 0o755 });
  return { FFMPEG_PATH: path, COPRA_TOOL_FOLDERS: dirname(ffmpeg.path) };
}
