// Clips made by ffmpeg: grain, moving detail, screen content, animation.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { toolEnvironment } from "../../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import type { Tools } from "./encodes.ts";

const run = promisify(execFile);

const FRAME = "s=512x288:r=25";
const zoom = (endPts: number): string =>
  `mandelbrot=${FRAME}:maxiter=400:start_scale=1:end_scale=0.05:end_pts=${endPts}`;
const slides = `cellauto=${FRAME}:rule=110:scroll=1:seed=5,fps=5,fps=25`;
const boxes = `gradients=${FRAME}:n=4:speed=0.02:seed=7,drawbox=x='mod(80*t,432)':y='110+100*sin(3*t)':w=80:h=80:c=red:t=fill`;

/** Graphs of ffmpeg's lavfi. */
export const CLIPS: Readonly<Record<string, string>> = {
  grain: `${zoom(750)},noise=alls=9:allf=t`,
  detail: `${zoom(750)},noise=alls=3:allf=t`,
  motion: `testsrc2=${FRAME},rotate=0.05*sin(t),noise=alls=3:allf=t`,
  screen: slides,
  animation: boxes,
  talk: `smptehdbars=${FRAME},drawbox=x='200+20*sin(2*t)':y='80+10*sin(3*t)':w=110:h=130:c=0xb08060:t=fill,noise=alls=5:allf=t`,
};

export const clipFile = ({ folder }: Pick<Tools, "folder">, clip: string): string => join(folder, `${clip}.mkv`);

/** Makes a clip without loss, and returns its path. */
export async function makeClip(tools: Tools, clip: string, seconds: number): Promise<string> {
  const file = clipFile(tools, clip);
  const encode = `-t ${seconds} -pix_fmt yuv420p -c:v libx264 -qp 0 -preset ultrafast -g 125`.split(" ");
  const graph = CLIPS[clip] ?? "";
  await run(tools.ffmpeg.path, ["-v", "error", "-y", "-f", "lavfi", "-i", graph, ...encode, file], {
    env: toolEnvironment(),
  });
  return file;
}
