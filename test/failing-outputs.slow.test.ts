// An output that ffmpeg cannot make leaves the other outputs intact; a large output is uploaded in parts; finished
// outputs wait for a storage that is down.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { TaskList, type TaskView } from "#shared/api/task-responses.ts";
import { silentLog } from "../encoder-node/testing/silent-log.ts";
import { startS3 } from "../local/s3/s3-app.ts";
import { fileFolder, untilEnd } from "./fixtures.ts";
import { look } from "./look.ts";
import { makeClip, makeLongClip } from "./media.ts";
import { LIMITED_VARIABLES, makeLimitedFfmpeg } from "./services/limited-ffmpeg.ts";
import { startSourceServer } from "./services/source-server.ts";
import { startTestStack, type TestStack } from "./stack.ts";

const folder = fileFolder();
let stack: TestStack;
const sources = untilEnd(await startSourceServer(folder));

beforeAll(async () => {
  Object.assign(process.env, await makeLimitedFfmpeg(folder, "Size 322x182 is unlucky"));
  stack = await startTestStack();
});
afterAll(async () => {
  for (const name of LIMITED_VARIABLES) delete process.env[name];
  await stack?.stop();
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

it("delivers a finished output when its storage is back, and encodes it once", async () => {
  const credentials = { accessKeyId: "held", secretAccessKey: "held-secret" };
  const options = { directory: join(folder, "s3"), bucket: "held", credentials };
  const first = await startS3({ port: 0, ...options }, silentLog);
  const { port } = first;
  const { id } = await stack.submit({
    input: { url: sources.urlOf(await makeLongClip(folder, 9)) },
    storage: {
      service: "s3other",
      bucket: "held",
      endpoint: `http://127.0.0.1:${port}`,
      region: stack.s3.region,
      force_path_style: true,
      credentials: { access_key_id: credentials.accessKeyId, secret_access_key: credentials.secretAccessKey },
    },
    outputs: { "mp4:360p": { path: "video.mp4" } },
  });
  const encoding = async (): Promise<TaskView | undefined> => {
    const { tasks } = TaskList.parse((await stack.request("GET", `/jobs/${id}/tasks`)).body);
    return tasks.find(({ kind }) => kind === "encode");
  };
  await vi.waitFor(async () => expect((await encoding())?.status).toBe("running"), { interval: 250 });
  // The encode started after the check of the storage.
  await first.close();
  // The upload gave up after 13 s before outputs were held.
  await vi.waitFor(
    async () => {
      const { body } = await stack.request("GET", `/jobs/${id}`);
      expect(body).toMatchObject({ waiting_for: expect.stringContaining("its storage, which is unreachable") });
    },
    { interval: 250 },
  );
  expect((await encoding())?.stage).toBe("holding");
  const again = await startS3({ port, ...options }, silentLog);
  expect(await stack.waitForJob(id)).toMatchObject({ status: "job.completed", outputs: [{ status: "video.encoded" }] });
  expect((await encoding())?.attempt).toBe(1);
  await again.close();
});
