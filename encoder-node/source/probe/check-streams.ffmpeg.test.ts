import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { toolEnvironment } from "../../ffmpeg/sandbox/tool-environment.ts";
import { REFERENCE_FFMPEG } from "../../testing/plan-runs.ts";
import { checkStreams } from "./check-streams.ts";

/** ffmpeg 7, whatever nodes take: it is the one that lists more than ffprobe of 2023. */
const ffmpeg = { path: REFERENCE_FFMPEG, version: "n7.0", origin: "package" } as const;
const { signal } = new AbortController();
const video = { index: 0, codec_type: "video" } as const;
const audio = { index: 1, codec_type: "audio" } as const;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "copra-streams-"));
  const tone = ["-f", "lavfi", "-i", "sine=d=0.5"];
  const title = "title=x\n  Stream #0:2: Video: none";
  const clips: Record<string, string[]> = {
    "moving.avif": ["-c:v", "libaom-av1", "-cpu-used", "8"],
    "clip.mkv": [...tone, "-c:v", "libx264", "-metadata", title, "-metadata:s:v:0", title],
  };
  for (const [name, options] of Object.entries(clips)) {
    const argv = ["-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x64:r=10:d=0.5", ...options, name];
    await promisify(execFile)(REFERENCE_FFMPEG, argv, { cwd: folder, env: toolEnvironment() });
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const check = (name: string, ...streams: (typeof video | typeof audio)[]): Promise<void> =>
  checkStreams(ffmpeg, { path: join(folder, name) }, { streams: [...streams], format: {} }, signal);

it("accepts a source whose streams are listed as they were probed, whatever its tags say", async () => {
  await expect(check("clip.mkv", video, audio)).resolves.toBeUndefined();
});

it("rejects a source whose indexes mean other streams, so that another node may try", async () => {
  const failure = (listed: string, probed: string) => ({
    code: "node_failed",
    message: expect.stringContaining(`in the input (${listed}) than its inspection did (${probed})`),
  });
  await expect(check("moving.avif", video)).rejects.toMatchObject(failure("video, video", "video"));
  await expect(check("clip.mkv", audio, video)).rejects.toMatchObject(failure("video, audio", "audio, video"));
});
