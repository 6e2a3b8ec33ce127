// The sample clip, made by ffmpeg: ten seconds of a moving test pattern with a tone.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { locateFfmpeg } from "../../encoder-node/ffmpeg/discover/locate.ts";
import { toolEnvironment } from "../../encoder-node/ffmpeg/sandbox/tool-environment.ts";

const run = promisify(execFile);

const SECONDS = 10;
const INPUTS = [
  ...["-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=30000/1001"],
  ...["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000"],
];
const ENCODE = [
  ...["-t", String(SECONDS), "-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p"],
  ...["-c:a", "aac", "-movflags", "+faststart", "-f", "mp4", "-y"],
];
const TIMECODE =
  "drawtext=timecode='00\\:00\\:00;00':rate=30000/1001:fontsize=72:fontcolor=white:box=1:boxcolor=black:boxborderw=12:x=40:y=h-120";

/** The path of the clip in the home folder. Makes the clip if it does not exist. */
export async function sampleClip(home: string): Promise<string> {
  const path = join(home, "sample.mp4");
  if (existsSync(path)) return path;
  const { ffmpeg } = await locateFfmpeg(process.env);
  const draft = `${path}.${process.pid}.new`;
  const encode = (filter: string[]): Promise<unknown> =>
    run(ffmpeg.path, ["-v", "error", "-nostdin", ...INPUTS, ...filter, ...ENCODE, draft], { env: toolEnvironment() });
  // Many builds have no drawtext filter or find no font. The clip then has no timecode.
  await encode(["-vf", TIMECODE]).catch(() => encode([]));
  await rename(draft, path);
  return path;
}
