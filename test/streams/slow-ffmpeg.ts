// The real ffmpeg, except that it encodes streams no faster than so many times their own speed.
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { locateFfmpeg } from "../../encoder-node/ffmpeg/build/locate.ts";

/** The environment with which nodes use it; undo it after the test. */
export async function makeSlowFfmpeg(folder: string, speed: number): Promise<Readonly<Record<string, string>>> {
  const { ffmpeg } = await locateFfmpeg(process.env);
  const path = join(folder, "slow-ffmpeg");
  const script = `#!/bin/sh\ncase "$*" in *hls_time*) exec "${ffmpeg.path}" -readrate ${speed} "$@";; esac\nexec "${ffmpeg.path}" "$@"\n`;
  await writeFile(path, script, { mode: 0o755 });
  return { FFMPEG_PATH: path, COPRA_TOOL_FOLDERS: dirname(ffmpeg.path) };
}
