import { join } from "node:path";
import { expect, it } from "vitest";
import { fileFolder } from "../../../test/fixtures.ts";
import { locateFfmpeg } from "../../ffmpeg/discover/locate.ts";
import { runCommand } from "../../ffmpeg/run-command.ts";
import { SLOW } from "../../testing/few.ts";
import { packetEndsMs } from "./read-packets.ts";

const { ffmpeg, ffprobe } = await locateFfmpeg(process.env);
const { signal } = new AbortController();
const folder = fileFolder();

async function make(name: string, ...argv: string[]): Promise<string> {
  const command = { path: ffmpeg.path, cwd: folder, stallMs: 30_000 };
  expect(await runCommand({ ...command, argv: ["-v", "error", "-nostdin", ...argv, name] })).toEqual({ ok: true });
  return join(folder, name);
}
const video = (seconds: number): string[] => ["-f", "lavfi", "-i", `testsrc2=s=64x36:r=10:d=${seconds}`];

it.each([
  ["of a format with timestamps", "a.mkv", {}, [2000, 1000]],
  ["of a format without presentation timestamps", "a.avi", {}, [2000, 1000]],
  ["from a time on", "c.mkv", { fromMs: 1500 }, [2000]],
])("finds the end of each track %s", async (_, name, range, endsMs) => {
  const audio = ["-f", "lavfi", "-i", "anullsrc=d=1", "-c:v", "mpeg4", "-g", "1", "-c:a", "pcm_s16le"];
  const path = await make(name, ...video(2), ...audio);
  const ends = await packetEndsMs(ffprobe, path, range, signal);
  expect(ends.size).toBe(endsMs.length);
  for (const [at, endMs] of endsMs.entries()) expect(Math.abs((ends.get(at) ?? 0) - endMs)).toBeLessThan(120);
});

it("reads as many packets as a day of video has", SLOW, async () => {
  // 250,000 packets of two samples each.
  const tiny = ["-f", "lavfi", "-i", "anullsrc=r=8000:cl=mono:d=62.5,asetnsamples=2", "-c:a", "pcm_u8"];
  expect([...(await packetEndsMs(ffprobe, await make("long.mkv", ...tiny), {}, signal))]).toEqual([[0, 62_500]]);
});
