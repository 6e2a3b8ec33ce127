import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { locateFfmpeg } from "../../ffmpeg/build/locate.ts";
import { runCommand } from "../../ffmpeg/run-command.ts";
import { lastPacketEndMs } from "./probe-end.ts";

const { ffmpeg, ffprobe } = await locateFfmpeg(process.env);
const { signal } = new AbortController();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "copra-end-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function make(name: string, ...argv: string[]): Promise<string> {
  const command = { path: ffmpeg.path, cwd: folder, stallMs: 30_000 };
  expect(await runCommand({ ...command, argv: ["-v", "error", "-nostdin", ...argv, name] })).toEqual({ ok: true });
  return join(folder, name);
}
const video = (seconds: number): string[] => ["-f", "lavfi", "-i", `testsrc2=s=64x36:r=10:d=${seconds}`];

it.each([
  ["of a format with timestamps", "a.mkv", {}, 2000],
  ["of a format without presentation timestamps", "a.avi", {}, 2000],
  ["of a range", "b.mkv", { fromMs: 500, toMs: 1000 }, 1000],
  ["of one stream", "c.mkv", { streamIndex: 1 }, 1000],
])("finds the end %s", async (_, name, range, endMs) => {
  const audio = ["-f", "lavfi", "-i", "anullsrc=d=1", "-c:v", "mpeg4", "-g", "1", "-c:a", "pcm_s16le"];
  const path = await make(name, ...video(2), ...audio);
  const found = (await lastPacketEndMs(ffprobe, path, { fromMs: 0, ...range }, signal)) ?? 0;
  expect(Math.abs(found - endMs)).toBeLessThan(120);
});

it("returns null without packets", async () => {
  const path = await make("short.mkv", ...video(1), "-c:v", "mpeg4");
  expect(await lastPacketEndMs(ffprobe, path, { fromMs: 0, streamIndex: 1 }, signal)).toBeNull();
});

it("reads as many packets as a day of video has", async () => {
  // 250,000 packets of two samples each.
  const tiny = ["-f", "lavfi", "-i", "anullsrc=r=8000:cl=mono:d=62.5,asetnsamples=2", "-c:a", "pcm_u8"];
  expect(await lastPacketEndMs(ffprobe, await make("long.mkv", ...tiny), { fromMs: 0 }, signal)).toBe(62_500);
});
