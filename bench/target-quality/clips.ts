// Clips made by ffmpeg: grain, moving detail, screen content, animation.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { toolEnvironment } from "../../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import type { Tools } from "./encodes.ts";

const run = promisify(execFile);

/** Frame size of small clips, at 25 fps. Larger frames show the same content at the same relative place and size. */
const WIDTH = 512;
export const HEIGHT = 288;

/** Graphs of ffmpeg's lavfi. The frame size is a multiple of 512×288. */
function graphs(multiple: number): Readonly<Record<string, string>> {
  const px = (small: number): number => Math.round(small * multiple);
  const frame = `s=${px(WIDTH)}x${px(HEIGHT)}:r=25`;
  const zoom = `mandelbrot=${frame}:maxiter=400:start_scale=1:end_scale=0.05:end_pts=750`;
  const [boxX, boxY] = [`mod(${px(80)}*t,${px(432)})`, `${px(110)}+${px(100)}*sin(3*t)`];
  const [headX, headY] = [`${px(200)}+${px(20)}*sin(2*t)`, `${px(80)}+${px(10)}*sin(3*t)`];
  // Cells of two pixels in large frames: their edges are as sharp as the edges of text.
  const cell = multiple < 2 ? 1 : 2;
  const cells = `cellauto=s=${px(WIDTH) / cell}x${px(HEIGHT) / cell}:r=25:rule=110:scroll=1:seed=5,fps=5,fps=25`;
  return {
    grain: `${zoom},noise=alls=9:allf=t`,
    detail: `${zoom},noise=alls=3:allf=t`,
    motion: `testsrc2=${frame},rotate=0.05*sin(t),noise=alls=3:allf=t`,
    screen: cell === 1 ? cells : `${cells},scale=${px(WIDTH)}:${px(HEIGHT)}:flags=neighbor`,
    animation: `gradients=${frame}:n=4:speed=0.02:seed=7,drawbox=x='${boxX}':y='${boxY}':w=${px(80)}:h=${px(80)}:c=red:t=fill`,
    talk: `smptehdbars=${frame},drawbox=x='${headX}':y='${headY}':w=${px(110)}:h=${px(130)}:c=0xb08060:t=fill,noise=alls=5:allf=t`,
  };
}

/** Graphs of small frames. */
export const CLIPS = graphs(1);

export const clipFile = ({ folder }: Pick<Tools, "folder">, clip: string): string => join(folder, `${clip}.mkv`);

/** Makes a lossless clip, and returns its path. `multiple`: of 512×288. */
export async function makeClip(tools: Tools, clip: string, seconds: number, multiple = 1): Promise<string> {
  const file = clipFile(tools, clip);
  const encode = `-t ${seconds} -pix_fmt yuv420p -c:v libx264 -qp 0 -preset ultrafast -g 125`.split(" ");
  const graph = graphs(multiple)[clip] ?? "";
  await run(tools.ffmpeg.path, ["-v", "error", "-y", "-f", "lavfi", "-i", graph, ...encode, file], {
    env: toolEnvironment(),
  });
  return file;
}
