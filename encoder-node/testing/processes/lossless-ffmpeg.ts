// The real ffmpeg, whose x264 is lossless, so that output frames equal the frames of the filters.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tools } from "../task-deps.ts";

/** The tool is stored in the folder. */
export async function makeLosslessFfmpeg(folder: string): Promise<typeof tools.ffmpeg> {
  const path = join(folder, "lossless-ffmpeg");
  const script = `#!/bin/bash
changed=()
while [ $# -gt 0 ]; do
  case "$1" in
    -preset|-crf|-b:v|-maxrate|-bufsize|-profile:v|-x264-params|-pass|-passlogfile) shift;;
    libx264) changed+=(libx264 -preset ultrafast -bf 2 -qp 0);;
    *) changed+=("$1");;
  esac
  shift
done
exec "${tools.ffmpeg.path}" "\${changed[@]}"
`;
  await writeFile(path, script, { mode: 0o755 });
  return { ...tools.ffmpeg, path };
}
