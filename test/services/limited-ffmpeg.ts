// The real ffmpeg, but for a size at which it says something and fails.
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { locateFfmpeg } from "../../encoder-node/ffmpeg/build/locate.ts";

export const PICKY_VARIABLES = ["FFMPEG_PATH", "COPRA_TOOL_FOLDERS"] as const;
type PickyVariable = (typeof PICKY_VARIABLES)[number];

/** Makes one that fails at 322x182; `words` are what it says there, in which the shell puts its arguments for `$*`. Answers the environment by which nodes use it. */
export async function makePickyFfmpeg(folder: string, words: string): Promise<Record<PickyVariable, string>> {
  const { ffmpeg } = await locateFfmpeg(process.env);
  const path = join(folder, "picky-ffmpeg");
  const script = `#!/bin/sh\ncase "$*" in *scale=322:182*) echo "${words}" >&2; exit 1;; esac\nexec "${ffmpeg.path}" "$@"\n`;
  await writeFile(path, script, { mode: 0o755 });
  return { FFMPEG_PATH: path, COPRA_TOOL_FOLDERS: dirname(ffmpeg.path) };
}
