// Compares files that ffmpeg made with the index at the end and with the index in front.
import { execFile } from "node:child_process";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { toolEnvironment } from "../ffmpeg/sandbox/tool-environment.ts";
import { tools } from "../testing/task-deps.ts";
import { headedContent, rangeContent } from "../upload/content.ts";
import { readIndexFirst } from "./index-first.ts";

const folder = fileFolder();

const run = async (argv: string): Promise<void> => {
  const all = ["-v", "error", "-y", "-fflags", "+bitexact", ...argv.split(" ")];
  await promisify(execFile)(tools.ffmpeg.path, all, { cwd: folder, env: toolEnvironment() });
};
async function bytesOf(path: string, reservedBytes: number): Promise<{ bytes: Buffer; shift: number }> {
  const { head, from, to, shift } = await readIndexFirst(path, reservedBytes);
  const content = headedContent(head, rangeContent(path, from, to - from));
  const chunks: Uint8Array[] = [];
  for await (const chunk of content.read(0, content.sizeBytes)) chunks.push(chunk);
  return { bytes: Buffer.concat(chunks), shift };
}

const VIDEO = "-f lavfi -i testsrc2=s=128x72:r=30:d=4";
const X264 = "-c:v libx264 -preset ultrafast";

it.each<[string, string]>([
  ["mp4", `${VIDEO} -f lavfi -i sine=d=4 ${X264} -bf 2 -c:a aac`],
  ["mov", `${VIDEO} -f lavfi -i sine=d=4 -c:v mpeg4 -c:a pcm_s16le -metadata title=Index`],
  ["mp4", `${VIDEO} -f lavfi -i sine=d=1:r=8000 -vf setpts=N*N/3000/TB -fps_mode vfr ${X264} -c:a aac`],
  ["3gp", `${VIDEO} ${X264}`],
])("has the same bytes as the file that ffmpeg writes with the index in front: %s %s", async (muxer, argv) => {
  const flags = `-fflags +bitexact -write_tmcd 0 -f ${muxer}`;
  await run(`${argv} ${flags} last.${muxer}`);
  await run(`-i last.${muxer} -map 0 -c copy ${flags} copy.${muxer}`);
  await run(`-i last.${muxer} -map 0 -c copy -movflags +faststart ${flags} first.${muxer}`);
  const { bytes } = await bytesOf(join(folder, `copy.${muxer}`), 0);
  expect(bytes.equals(await readFile(join(folder, `first.${muxer}`)))).toBe(true);
});

it("can be decoded from its start alone when bytes are free", async () => {
  await run(`${VIDEO} -f lavfi -i sine=d=4 ${X264} -c:a aac last.mp4`);
  const { bytes, shift } = await bytesOf(join(folder, "last.mp4"), 20_000);
  expect(shift).toBe(20_000);
  const half = await open(join(folder, "half.mp4"), "w");
  await half.write(bytes.subarray(0, bytes.length * 0.6));
  await half.close();
  const entries = "-show_entries stream=nb_frames,nb_read_frames";
  const { stdout } = await promisify(execFile)(
    tools.ffprobe.path,
    `-v quiet -count_frames -select_streams v ${entries} -of csv=p=0 half.mp4`.split(" "),
    { cwd: folder, env: toolEnvironment() },
  );
  const [frames, read] = stdout.split(",").map(Number);
  expect(frames).toBe(120);
  expect(read).toBeGreaterThan(50);
});
