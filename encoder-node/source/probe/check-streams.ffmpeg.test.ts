import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { chosenAudio, chosenVideo } from "#shared/media/choose-streams.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { toolEnvironment } from "../../ffmpeg/sandbox/tool-environment.ts";
import { REFERENCE_FFMPEG } from "../../testing/plan-runs.ts";
import { checkStreams, withOwnIndexes } from "./check-streams.ts";

/** ffmpeg 7, even if nodes use another version: it lists more streams than ffprobe of 2023. */
const ffmpeg = { path: REFERENCE_FFMPEG, version: "n7.0", origin: "package" } as const;
const { signal } = new AbortController();
const video = { index: 0, codec_type: "video" } as const;
const audio = { index: 1, codec_type: "audio" } as const;

const folder = fileFolder();
beforeAll(async () => {
  const tone = ["-f", "lavfi", "-i", "sine=d=0.5"];
  const title = "title=x\n  Stream #0:2: Video: none";
  const clips: Record<string, string[]> = {
    // The second program has the audio of the first.
    "multiplex.ts": [
      ...[...tone, "-f", "lavfi", "-i", "testsrc2=s=96x64:r=10:d=0.5", "-map", "0", "-map", "1", "-map", "2"],
      ...["-c:v", "mpeg2video", "-r", "25", "-program", "st=1:st=2", "-program", "st=0:st=1"],
    ],
    "moving.avif": ["-c:v", "libaom-av1", "-cpu-used", "8"],
    "clip.mkv": [...tone, "-c:v", "libx264", "-metadata", title, "-metadata:s:v:0", title],
  };
  for (const [name, options] of Object.entries(clips)) {
    const argv = ["-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x64:r=10:d=0.5", ...options, name];
    await promisify(execFile)(REFERENCE_FFMPEG, argv, { cwd: folder, env: toolEnvironment() });
  }
});

const check = (name: string, ...streams: MediaProbe["streams"]): Promise<void> =>
  checkStreams(ffmpeg, { source: join(folder, name) }, { streams: [...streams], format: {} }, signal);

it("accepts a source whose streams are listed as they were probed, whatever its tags say", async () => {
  await expect(check("clip.mkv", video, audio)).resolves.toBeUndefined();
});

it("rejects a source whose indexes mean other streams, so that another node may try", async () => {
  const failure = (listed: string, probed: string) => ({
    code: "node_failed",
    message: expect.stringContaining(`in the input (${listed}) than its inspection did (${probed})`),
  });
  await expect(check("moving.avif", video)).rejects.toMatchObject(failure("video, video", "video"));
  const swapped = [{ ...audio, index: 0 } as const, { ...video, index: 1 } as const];
  await expect(check("clip.mkv", ...swapped)).rejects.toMatchObject(failure("video, audio", "audio, video"));
});

it("finds the streams of a multiplex by their PIDs, whatever their indexes were at the inspection", async () => {
  const source = { source: join(folder, "multiplex.ts") };
  const stream = (index: number, codec_type: string, id: string, width = 64) => ({
    index,
    codec_type,
    id,
    codec_name: codec_type === "video" ? "mpeg2video" : "mp2",
    ...(codec_type === "video" ? { width, height: 48 } : { channels: 1 }),
  });
  const format = { format_name: "mpegts" };
  const listed = [stream(0, "audio", "0x101"), stream(1, "video", "0x102", 96), stream(2, "video", "0x100")];
  const indexes = ({ streams }: MediaProbe) => [chosenVideo(streams)?.index, chosenAudio(streams)?.index];
  const indexed = await withOwnIndexes(ffmpeg, source, { streams: listed, format }, signal);
  expect(indexed.streams).toEqual(listed);
  await expect(checkStreams(ffmpeg, source, indexed, signal)).resolves.toBeUndefined();
  const others = [stream(0, "video", "0x100"), stream(1, "video", "0x102", 96), stream(4, "audio", "0x101")];
  const moved = await withOwnIndexes(ffmpeg, source, { streams: others, format }, signal);
  expect(indexes(moved)).toEqual(indexes(indexed));
  await expect(checkStreams(ffmpeg, source, moved, signal)).resolves.toBeUndefined();
  const unlisted = { streams: [...others, stream(5, "audio", "0x300")], format };
  expect(indexes(await withOwnIndexes(ffmpeg, source, unlisted, signal))).toEqual(indexes(indexed));
  await expect(withOwnIndexes(ffmpeg, source, unlisted, signal, true)).rejects.toMatchObject({ code: "node_failed" });
  const missing = { streams: [stream(0, "video", "0x200")], format };
  await expect(withOwnIndexes(ffmpeg, source, missing, signal)).rejects.toMatchObject({ code: "node_failed" });
});

it("finds the video of an animated AVIF beside its still image", async () => {
  const probed = { ...video, id: "0x1", width: 64, height: 64, avg_frame_rate: "10/1" };
  const probe = { streams: [probed], format: { format_name: "mov,mp4,m4a,3gp,3g2,mj2" } };
  const { streams } = await withOwnIndexes(ffmpeg, { source: join(folder, "moving.avif") }, probe, signal);
  expect(streams).toEqual([{ ...probed, index: 1 }]);
});
