import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rotationOf } from "#shared/media/media-probe.ts";
import { sourceFacts } from "#shared/media/source-facts.ts";
import { locateFfmpeg } from "../../ffmpeg/discover/locate.ts";
import { runCommand } from "../../ffmpeg/run-command.ts";
import { probeFile } from "./probe.ts";
import { probeSource } from "./probe-source.ts";

const { ffmpeg, ffprobe } = await locateFfmpeg(process.env);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "copra probe-"));
  const video = ["-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=1", "-f", "lavfi", "-i", "sine=d=1"];
  const argv = ["-v", "error", "-nostdin", ...video, ..."-c:v libx264 -preset ultrafast -c:a aac clip.mp4".split(" ")];
  const tool = { path: ffmpeg.path, cwd: folder, stallMs: 20_000 };
  expect(await runCommand({ ...tool, argv })).toEqual({ ok: true });
  const remux = ["-v", "error", "-nostdin", "-i", "clip.mp4", "-c", "copy", "clip.ts"];
  expect(await runCommand({ ...tool, argv: remux })).toEqual({ ok: true });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("probeFile", () => {
  it("describes a media file, without its folder", async () => {
    const probe = await probeFile(ffprobe, join(folder, "clip.mp4"));
    expect(sourceFacts(probe)).toMatchObject({
      durationMs: 1000,
      video: { displayWidth: 320, displayHeight: 180, fps: 25, constantFrameRate: true },
      audio: { sampleRateHz: 44_100, channels: 1 },
    });
    expect(probe.format.filename).toBe("clip.mp4");
  });

  it("reads a transport stream, whose service names crash static builds", async () => {
    const probe = await probeFile(ffprobe, join(folder, "clip.ts"));
    expect(probe.format.format_name).toBe("mpegts");
    expect(sourceFacts(probe).video).toMatchObject({ displayWidth: 320, fps: 25 });
  });

  it("shortens tags that a report could not hold", async () => {
    const tags = Array.from({ length: 90 }, (_, at) => [
      "-metadata",
      `tag${at}=${"x".repeat(at === 0 ? 500_000 : 10)}`,
    ]);
    const meta = ["-v", "error", "-nostdin", "-i", "clip.mp4", ...tags.flat().slice(2), "-c", "copy", "tagged.mkv"];
    await writeFile(join(folder, "long.txt"), `;FFMETADATA1\ntag0=${"x".repeat(500_000)}\n`);
    const withLong = [...meta.slice(0, 5), "-i", "long.txt", "-map_metadata", "1", "-map", "0", ...meta.slice(5)];
    expect(await runCommand({ path: ffmpeg.path, cwd: folder, stallMs: 20_000, argv: withLong })).toEqual({ ok: true });
    const { format } = await probeFile(ffprobe, join(folder, "tagged.mkv"));
    const values = Object.values(format.tags ?? {});
    expect([values.length, Math.max(...values.map(({ length }) => length))]).toEqual([64, 1000]);
  });

  it("rejects a file with more streams than a report can hold", async () => {
    const maps = Array.from({ length: 65 }, () => ["-map", "0:1"]).flat();
    const argv = ["-v", "error", "-nostdin", "-i", "clip.mp4", "-t", "0.1", ...maps, "-c", "copy", "many.mkv"];
    expect(await runCommand({ path: ffmpeg.path, cwd: folder, stallMs: 20_000, argv })).toEqual({ ok: true });
    const message = "The input has 65 streams; at most 64 are allowed.";
    await expect(probeFile(ffprobe, join(folder, "many.mkv"))).rejects.toMatchObject({
      code: "input_not_media",
      message,
    });
  });

  it("recognizes files by content, not by name", async () => {
    const odd = join(folder, "http:odd %d -name.txt");
    await copyFile(join(folder, "clip.mp4"), odd);
    expect((await probeFile(ffprobe, odd)).format.format_name).toContain("mp4");
  });

  it("reports the size of a frame that is too large", async () => {
    const argv = ["-v", "error", "-nostdin", "-f", "lavfi", "-i", "color=s=7000x7000", "-frames:v", "1", "large.png"];
    expect(await runCommand({ path: ffmpeg.path, cwd: folder, stallMs: 20_000, argv })).toEqual({ ok: true });
    await expect(probeFile(ffprobe, join(folder, "large.png"))).rejects.toMatchObject({
      code: "input_not_media",
      message: "The input's frames have 7000x7000 pixels; at most 40 million can be decoded.",
    });
  });

  const playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nclip.mp4\n#EXT-X-ENDLIST\n";
  it.each<[string, string | Uint8Array]>([
    ["text", "This file is plain text.\n".repeat(200)],
    ["an empty file", ""],
    ["noise", Uint8Array.from({ length: 200_000 }, (_, i) => (i * i * 2_654_435_761) >>> 13)],
    ["HTML", "<!doctype html><title>Not found</title>"],
    ["a playlist that names another file", playlist],
    ["a concat script that names another file", "ffconcat version 1.0\nfile clip.mp4\n"],
    ["an SVG image", '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>'],
    ["subtitles", "WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n"],
  ])("rejects %s named .mp4", async (name, content) => {
    const path = join(folder, `${name}.mp4`);
    await writeFile(path, content);
    await expect(probeFile(ffprobe, path)).rejects.toMatchObject({ name: "AppError", code: "input_not_media" });
  });

  it.each(["mhm1", "iamf", "dtsx"])("names the only codec if ffmpeg does not know it: %s", async (codec) => {
    const argv = ["-v", "error", "-nostdin", "-f", "lavfi", "-i", "sine=d=0.2", "-c:a", "aac", "-y", "known.mp4"];
    expect(await runCommand({ path: ffmpeg.path, cwd: folder, stallMs: 20_000, argv })).toEqual({ ok: true });
    const known = (await readFile(join(folder, "known.mp4"))).toString("latin1").replace("esds", "free");
    // Such sample entries state no channels.
    const bytes = known.replace(/mp4a(.{16})../s, `${codec}$1\0\0`);
    await writeFile(join(folder, `${codec}.mp4`), bytes, "latin1");
    await expect(probeFile(ffprobe, join(folder, `${codec}.mp4`))).rejects.toMatchObject({
      code: "input_codec_not_supported",
      message: expect.stringMatching(
        /^The input's audio is (mpegh_3d_audio|mhm1|iamf|dtsx), which cannot be decoded; /,
      ),
    });
  });

  it("blames the file, not the node, when it makes ffprobe fail", async () => {
    const harmed = async (name: string, does: string): Promise<{ code: string; message: string }> => {
      const path = join(folder, name);
      await writeFile(path, `#!/bin/sh\n${does}\n`, { mode: 0o755 });
      return probeFile({ ...ffprobe, path }, join(folder, "clip.mp4")).catch((error) => error);
    };
    const talk = harmed("talking", "yes tag");
    await expect(talk).resolves.toMatchObject({
      code: "input_not_media",
      message: expect.stringMatching("metadata is too large"),
    });
    const crash = harmed("crashing", "kill -SEGV $$");
    await expect(crash).resolves.toMatchObject({
      code: "input_not_media",
      message: expect.stringMatching("crash \\(SIGSEGV\\)"),
    });
    const work = harmed("working", "kill -XCPU $$");
    await expect(work).resolves.toMatchObject({
      code: "input_not_media",
      message: expect.stringMatching("far more time to read"),
    });
  });

  it("blames the node when ffprobe cannot run", async () => {
    const gone = { ...ffprobe, path: join(folder, "ffprobe") };
    await expect(probeFile(gone, join(folder, "clip.mp4"))).rejects.toMatchObject({ code: "node_failed" });
  });

  it("rejects with the reason of an abort", async () => {
    const reason = new Error("superseded");
    await expect(probeFile(ffprobe, join(folder, "clip.mp4"), AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const probing = probeFile(ffprobe, join(folder, "clip.mp4"), controller.signal);
    controller.abort(reason);
    await expect(probing).rejects.toBe(reason);
  });
});

describe("probeSource", () => {
  it("reads the rotation of the first frame, and not the rotation of a later frame", async () => {
    const tool = { path: ffmpeg.path, cwd: folder, stallMs: 20_000 };
    const parts = { "plain.h264": "null", "rotated.h264": "h264_metadata=display_orientation=insert:rotate=90" };
    for (const [name, filter] of Object.entries(parts)) {
      const argv = `-v error -nostdin -i clip.mp4 -an -c copy -bsf:v h264_mp4toannexb,${filter} ${name}`.split(" ");
      expect(await runCommand({ ...tool, argv })).toEqual({ ok: true });
    }
    const [plain, rotated] = await Promise.all(Object.keys(parts).map((name) => readFile(join(folder, name))));
    const rotationOfFile = async (first: Buffer | undefined, second: Buffer | undefined): Promise<number> => {
      await writeFile(join(folder, "joined.h264"), Buffer.concat([first, second].filter((part) => part !== undefined)));
      const { streams } = await probeSource(ffprobe, join(folder, "joined.h264"));
      return rotationOf(streams[0] ?? expect.fail("no stream"));
    };
    expect([await rotationOfFile(plain, rotated), await rotationOfFile(rotated, plain)]).toEqual([0, 270]);
  });
});
