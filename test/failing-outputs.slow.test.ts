// An output that ffmpeg cannot make leaves the other outputs intact; a large output is uploaded in parts.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { look } from "./look.ts";
import { makeClip, makeLongClip } from "./media.ts";
import { LIMITED_VARIABLES, makeLimitedFfmpeg } from "./services/limited-ffmpeg.ts";
import { type SourceServer, startSourceServer } from "./services/source-server.ts";
import { startTestStack, type TestStack } from "./stack.ts";

let folder: string;
let stack: TestStack;
let sources: SourceServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "copra-failing-"));
  Object.assign(process.env, await makeLimitedFfmpeg(folder, "Size 322x182 is unlucky"));
  sources = await startSourceServer(folder);
  stack = await startTestStack();
});
afterAll(async () => {
  for (const name of LIMITED_VARIABLES) delete process.env[name];
  await stack?.stop();
  await sources?.close();
  rmSync(folder, { recursive: true, force: true });
});

it("fails only the output that ffmpeg cannot make", async () => {
  const clip = await makeClip("ntsc.mp4", folder);
  const { id } = await stack.submit({
    input: { url: sources.urlOf(clip) },
    outputs: {
      "mp4:240p": { path: "good.mp4" },
      "mp4:322x182": { path: "bad.mp4" },
      "jpg:90x": { path: "good-%d.jpg", number: 2 },
    },
  });
  const job = await stack.waitForJob(id);
  expect(job).toMatchObject({
    status: "job.failed",
    outputs: [
      { status: "video.encoded" },
      {
        status: "video.failed",
        error: expect.stringContaining("Size 322x182 is unlucky"),
        error_code: "encoding_failed",
      },
      { status: "image.created" },
    ],
  });
  expect((await look(job.outputs[0]?.url)).frames).toBe(90);
  expect(readdirSync(join(stack.home, "nodes", "1", "tasks"))).toEqual([]);
});

it("uploads a large file in parts, and the control plane completes the upload", async () => {
  const clip = await makeLongClip(folder, 9);
  const { id } = await stack.submit({
    input: { url: sources.urlOf(clip) },
    outputs: { "mp4:mpeg4_1920x1080_60000k": { path: "large/video.mp4" } },
  });
  const job = await stack.waitForJob(id);
  expect(job).toMatchObject({ status: "job.completed" });
  const { frames, probe } = await look(job.outputs[0]?.url);
  expect(frames).toBe(270);
  expect(Number(probe.format.size)).toBeGreaterThan(16 * 2 ** 20);
  const puts = stack.log("s3").match(/"PUT".*large\/video.mp4/g);
  expect(puts?.length).toBeGreaterThan(1);
});
