// A third-party client library; only its endpoint is changed.
import coconut, { type Metadata } from "coconutjs";
import { expect, it } from "vitest";
import type { JobView } from "#shared/job/job-view.ts";
import { fileFolder, untilEnd } from "./fixtures.ts";
import { makeClip } from "./media.ts";
import { startSourceServer } from "./services/source-server.ts";
import { sharedStack } from "./stack.ts";

const folder = fileFolder();
const stack = sharedStack();
const sources = untilEnd(await startSourceServer(folder));

const NOTIFICATION = { type: "http", url: "http://127.0.0.1:9/" };

const newClient = (apiKey = stack.apiKey) =>
  new coconut.Client(apiKey, { endpoint: stack.api, storage: stack.storage, notification: NOTIFICATION });

/** Turns a call with a callback into a promise of its response. */
const called = <Value>(call: (callback: (value: Value | null, error: Error | null) => void) => void): Promise<Value> =>
  new Promise((resolve, reject) => {
    call((value, error) => (value === null ? reject(error) : resolve(value)));
  });

it("creates a job, reads it and reads its metadata", async () => {
  const client = newClient();
  const input = { url: sources.urlOf(await makeClip("ntsc.mp4", folder)) };
  const outputs = { "jpg:300x": { path: "/client/image.jpg" }, "mp4:240p": { path: "/client/240p.mp4" } };
  const created = await called<JobView>((callback) => client.Job.create({ input, outputs }, callback));
  expect(created).toMatchObject({
    id: expect.stringMatching(/^[A-Za-z0-9]{14}$/),
    completed_at: null,
    ends_at: null,
    status: "job.starting",
    progress: "0%",
    input: { status: "input.starting" },
    outputs: [
      { key: "jpg:300x", type: "image", format: "jpg:300x", status: "image.waiting" },
      { key: "mp4:240p", type: "video", format: "mp4:240p", status: "video.waiting" },
    ],
  });

  await stack.waitForJob(created.id);
  const read = await called<JobView>((callback) => client.Job.retrieve(created.id, callback));
  const bucket = `${stack.s3.endpoint}/${stack.s3.bucket}`;
  expect(read).toMatchObject({
    status: "job.completed",
    progress: "100%",
    input: { status: "input.transferred" },
    outputs: [
      { status: "image.created", urls: [`${bucket}/client/image.jpg`] },
      { status: "video.encoded", url: `${bucket}/client/240p.mp4` },
    ],
  });

  const { job_id, metadata } = await called<Metadata>((callback) => client.Metadata.retrieve(created.id, callback));
  expect(job_id).toBe(created.id);
  expect(metadata.input.streams).toHaveLength(2);
  expect(metadata.outputs).toMatchObject([
    { "jpg:300x": { streams: [{ codec_name: "mjpeg" }] } },
    { "mp4:240p": { streams: [{ codec_name: "h264" }, { codec_name: "aac" }] } },
  ]);
});

it("reports why a request is rejected", async () => {
  await expect(called((callback) => newClient().Job.create({}, callback))).rejects.toMatchObject({
    error_code: "input_not_valid",
    message: "The job 'input' is not a valid object.",
  });
  await expect(called((callback) => newClient("k-wrong").Job.retrieve("x", callback))).rejects.toMatchObject({
    error_code: "authentication_failed",
  });
});
