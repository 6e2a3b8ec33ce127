// The sources of the benchmarks of single jobs.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { toolEnvironment } from "../../encoder-node/ffmpeg/sandbox/tool-environment.ts";

const run = promisify(execFile);

/** 1080p at 29.97 frames a second with grain and audio; H.264 in mp4 with its index in front, as most uploads are. */
export async function makeGrainClip(ffmpeg: string, path: string, seconds: number): Promise<void> {
  const video = "testsrc2=size=1920x1080:rate=30000/1001,rotate=0.05*sin(t),noise=alls=3:allf=t,format=yuv420p";
  const inputs = ["-f", "lavfi", "-i", video, "-f", "lavfi", "-i", "anoisesrc=a=0.1:r=48000"];
  const coded = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-c:a", "aac", "-ac", "2"];
  const written = ["-t", String(seconds), "-movflags", "+faststart", path];
  await run(ffmpeg, ["-v", "error", "-nostdin", "-y", ...inputs, ...coded, ...written], { env: toolEnvironment() });
}
