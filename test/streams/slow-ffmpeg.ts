// The real ffmpeg, except that it limits the encoding speed of streams or chunks.
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { locateFfmpeg } from "../../encoder-node/ffmpeg/discover/locate.ts";

/** An option that only these runs have. */
const OPTION_OF = { streams: "hls_time", chunks: "write_btrt" } as const;

export type SlowFfmpeg = {
  /** The environment for nodes; undo it after the test. */
  readonly env: Readonly<Record<string, string>>;
  /** From now on, a run that has written everything does not end before `release`. */
  hold(): Promise<void>;
  release(): Promise<void>;
};

export async function makeSlowFfmpeg(
  folder: string,
  speed: number,
  runs: keyof typeof OPTION_OF = "streams",
): Promise<SlowFfmpeg> {
  const { ffmpeg } = await locateFfmpeg(process.env);
  const path = join(folder, "slow-ffmpeg");
  // Runs see nothing else of the folder.
  const gate = await mkdtemp(join(folder, "gate-"));
  await chmod(gate, 0o755);
  const held = join(gate, "held");
  const script = `#!/bin/sh
case "$*" in *${OPTION_OF[runs]}*) ;; *) exec "${ffmpeg.path}" "$@";; esac
"${ffmpeg.path}" -readrate ${speed} "$@"
code=$?
while [ -e "${held}" ]; do sleep 0.1; done
exit $code
`;
  await writeFile(path, script, { mode: 0o755 });
  return {
    env: { FFMPEG_PATH: path, COPRA_TOOL_FOLDERS: [dirname(ffmpeg.path), gate].join(delimiter) },
    hold: () => writeFile(held, ""),
    release: () => rm(held, { force: true }),
  };
}
