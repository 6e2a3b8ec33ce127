// The real ffmpeg, except that it encodes streams or chunks no faster than so many times their own speed.
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { locateFfmpeg } from "../../encoder-node/ffmpeg/build/locate.ts";

/** An option that only these runs have. */
const OPTION_OF = { streams: "hls_time", chunks: "write_btrt" } as const;

/** The environment with which nodes use it; undo it after the test. */
export async function makeSlowFfmpeg(
  folder: string,
  speed: number,
  runs: keyof typeof OPTION_OF = "streams",
): Promise<Readonly<Record<string, string>>> {
  const { ffmpeg } = await locateFfmpeg(process.env);
  const path = join(folder, "slow-ffmpeg");
  const script = `#!/bin/sh\ncase "$*" in *${OPTION_OF[runs]}*) exec "${ffmpeg.path}" -readrate ${speed} "$@";; esac\nexec "${ffmpeg.path}" "$@"\n`;
  await writeFile(path, script, { mode: 0o755 });
  return { FFMPEG_PATH: path, COPRA_TOOL_FOLDERS: dirname(ffmpeg.path) };
}
