// The real ffmpeg, whose runs write everything, but do not end before a test releases them.
import { readdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { tools } from "../task-deps.ts";

/** A run does not end while this file is in its folder, the only writable folder of its sandbox. */
const HELD = "held";

/** Holds the runs that have the option; the tool is stored in the folder. */
export async function makeHeldFfmpeg(folder: string, option: string): Promise<typeof tools.ffmpeg> {
  const path = join(folder, "held-ffmpeg");
  const script = `#!/bin/sh
case "$*" in *" ${option} "*) ;; *) exec "${tools.ffmpeg.path}" "$@";; esac
: > ${HELD}
"${tools.ffmpeg.path}" "$@"
code=$?
while [ -e ${HELD} ]; do sleep 0.1; done
exit $code
`;
  await writeFile(path, script, { mode: 0o755 });
  return { ...tools.ffmpeg, path };
}

/** Lets the runs in this folder, and in those below it, end. */
export async function releaseRuns(folder: string): Promise<void> {
  for (const path of await readdir(folder, { recursive: true })) {
    if (basename(path) === HELD) await rm(join(folder, path));
  }
}
