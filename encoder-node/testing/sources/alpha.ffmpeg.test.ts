// Transparent sources keep their alpha in formats that support it, and get a black background in all others.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { toolEnvironment } from "../../ffmpeg/sandbox/tool-environment.ts";
import { processSource } from "../jobs/process-source.ts";
import { REFERENCE_FFMPEG } from "../plan-runs.ts";
import { workshopOfFile } from "../workshop-of-file.ts";

const workshop = workshopOfFile();

/** RGBA of the first frame at the centers of its left and right halves. */
async function halves(path: string, decoder = ""): Promise<number[][]> {
  const argv = `-v error ${decoder} -i ${path} -frames:v 1 -vf format=rgba,scale=32:16:flags=neighbor -f rawvideo -`;
  const options = { encoding: "buffer", env: toolEnvironment() } as const;
  const { stdout } = await promisify(execFile)(REFERENCE_FFMPEG, argv.split(" ").filter(Boolean), options);
  return [8, 24].map((x) => [...stdout.subarray((8 * 32 + x) * 4, (8 * 32 + x) * 4 + 4)]);
}

/** Red on the left, transparent on the right (white, if alpha is ignored). */
const SOURCE =
  "-f lavfi -i color=white:s=64x32:r=5:d=2,format=rgba,geq=r=255:g='255*gte(X,32)':b='255*gte(X,32)':a='255*lt(X,32)'";
const near = (value: number) => expect.closeTo(value, -1.1);
const RED = [near(255), near(0), near(0), near(255)];
const clear = [expect.any(Number), expect.any(Number), expect.any(Number), near(0)];
const BLACK = [near(0), near(0), near(0), near(255)];

it.each([
  ["gif", "source.gif", "-vf split[a][b];[a]palettegen[p];[b][p]paletteuse"],
  ["animated PNG", "source.apng", "-plays 0"],
  ["ProRes 4444", "source.mov", "-c:v prores_ks -profile:v 4444 -pix_fmt yuva444p10le"],
  ["VP9", "source.webm", "-c:v libvpx-vp9 -pix_fmt yuva420p -b:v 1M -auto-alt-ref 0"],
])("alpha of %s", async (_, name, options) => {
  const path = await workshop.make(name, `${SOURCE} ${options}`);
  const requests = ["png:32x", "gif:32x", "webp:32x", "jpg:32x", "mp4:32x"].map((format) => ({ format }));
  const { outputs } = await processSource(path, requests);
  const results = await Promise.all(
    outputs.map(async (output) => (output.ok ? await halves(output.files[0] ?? "") : output.failure)),
  );
  expect(results).toEqual([
    [RED, clear],
    [RED, clear],
    [RED, clear],
    [RED, BLACK],
    [RED, BLACK],
  ]);
});

it("keeps alpha in an animated webp, and in images that are made by seeking", async () => {
  const path = await workshop.make("long.mov", `${SOURCE.replace("d=2", "d=60")} -c:v png -pix_fmt rgba`);
  const { outputs } = await processSource(path, [
    { format: "gif:32x", params: { scene: { number: 1, duration: 1 } } },
    { format: "png:32x", params: { sprite: true, number: 2 } },
  ]);
  for (const output of outputs) expect(output.ok && (await halves(output.files[0] ?? ""))[1]?.[3]).toBe(0);
  const webp = await processSource(join(workshop.folder, "source.gif"), [{ format: "webp_anim:32x" }]);
  const [animated] = webp.outputs;
  const bytes = await readFile((animated?.ok && animated.files[0]) || "");
  // The alpha flag in the VP8X chunk (RFC 9649 §2.7): ffmpeg does not decode animated WebP.
  expect((bytes[20] ?? 0) & 0x10).toBe(0x10);
});
