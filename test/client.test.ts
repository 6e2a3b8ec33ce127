// The typed client on the real system: a local file becomes outputs, and the client reads every fact about them.
import { openAsBlob } from "node:fs";
import { Webhook } from "standardwebhooks";
import { expect, it } from "vitest";
import {
  type AccountEvent,
  Copra,
  CopraError,
  JobFailed,
  type NotificationPayload,
  verifyWebhook,
} from "../client/index.ts";
import { fileFolder, untilEnd } from "./fixtures.ts";
import { makeClip } from "./media.ts";
import { startWebhookReceiver } from "./services/webhook-receiver.ts";
import { sharedStack } from "./stack.ts";

const stack = sharedStack();
const copra = new Copra({ url: stack.api, key: stack.apiKey });
const storage = { service: "coconut" } as const;
const NOBODY = { type: "http", url: "http://127.0.0.1:9/" } as const;

const folder = fileFolder();
const webhooks = untilEnd(await startWebhookReceiver());

it("uploads a file, encodes it, follows it, verifies its webhooks and reads all about it", async () => {
  const stop = new AbortController();
  const events: AccountEvent[] = [];
  const listening = (async () => {
    for await (const event of copra.events({ signal: stop.signal })) events.push(event);
  })().catch((error: unknown) => error);

  const sent: number[] = [];
  const blob = await openAsBlob(await makeClip("ntsc.mp4", folder));
  const upload = await copra.uploads.send(blob, { name: "ntsc.mp4", onProgress: (_, bytes) => sent.push(bytes) });
  expect([upload.status, upload.size, sent.at(-1)]).toEqual(["completed", blob.size, blob.size]);

  const job = await copra.jobs.create({
    input: { upload: upload.id },
    storage,
    outputs: { "mp4:240p": { path: "client/240p.mp4" }, "jpg:160x": { path: "client/%02d.jpg", number: 2 } },
    notification: { type: "http", url: webhooks.url, events: true },
  });
  const progress: string[] = [];
  const done = await copra.jobs.wait(job.id, { onProgress: (now) => progress.push(now.progress) });
  expect(done.outputs.map(({ status }) => status)).toEqual(["video.encoded", "image.created"]);
  expect(progress.at(-1)).toBe("100%");

  const { metadata } = await copra.jobs.metadata(job.id, "mp4:240p");
  expect(metadata["mp4:240p"]).toMatchObject({ streams: expect.any(Array) });
  const { tasks, attempts } = await copra.jobs.tasks(job.id);
  expect(tasks.map(({ kind, status }) => `${kind} ${status}`)).toEqual(["inspect completed", "encode completed"]);
  expect(attempts.map(({ outcome }) => outcome)).toEqual(["completed", "completed"]);
  const { commands } = await copra.jobs.commands(job.id);
  expect(commands.every(({ exit_code }) => exit_code === 0)).toBe(true);
  expect(commands.length).toBeGreaterThan(0);
  expect((await copra.jobs.request(job.id)).request).toMatchObject({ input: { upload: upload.id } });
  for await (const { id } of copra.jobs.list({ q: job.id })) expect(id).toBe(job.id);
  expect((await copra.jobs.counts({ q: job.id })).counts).toMatchObject({ "job.completed": 1 });

  await expect.poll(() => webhooks.events().length).toBe(4);
  const verified: NotificationPayload["event"][] = [];
  for (const { headers, raw } of webhooks.events()) {
    verified.push((await verifyWebhook({ headers, body: raw }, stack.webhookSecret)).event);
    expect(new Webhook(stack.webhookSecret).verify(raw, headers as Record<string, string>)).toMatchObject({
      job_id: job.id,
    });
    await expect(verifyWebhook({ headers, body: `${raw} ` }, stack.webhookSecret)).rejects.toThrow("not valid");
  }
  expect(verified.toSorted()).toEqual(["input.transferred", "job.completed", "output.completed", "output.completed"]);
  const [last] = (await copra.jobs.notifications(job.id)).slice(-1);
  expect(last).toMatchObject({ event: "job.completed", status: "delivered" });
  const other = await copra.notifications.replay(job.id, last?.id ?? "", { url: webhooks.url });
  expect(other.response).toMatchObject({ delivered: true, status: 200 });

  const ofJob = () => events.filter(({ event, data }) => event === "job" && "id" in data && data.id === job.id);
  await expect.poll(() => ofJob().length).toBeGreaterThan(1);
  stop.abort(new Error("enough"));
  expect(await listening).toMatchObject({ message: "enough" });
  expect((await copra.usage()).days.length).toBe(30);
});

it("throws why a job failed, and which field of a request is wrong", async () => {
  const request = {
    input: { url: `${stack.s3.endpoint}/${stack.s3.bucket}/missing.mp4` },
    storage,
    outputs: { mp3: { path: "a.mp3" } },
    notification: NOBODY,
  } as const;
  const failed = await copra.jobs.create(request);
  await expect(copra.jobs.wait(failed.id)).rejects.toBeInstanceOf(JobFailed);
  const wrong = copra.jobs.create({ ...request, input: { url: "ftp://example.com/" } });
  await expect(wrong).rejects.toMatchObject({ status: 400, code: "input_url_not_valid", field: "input.url" });
  const twice = { idempotencyKey: `client-${Date.now()}` };
  const [first, second] = [await copra.jobs.create(request, twice), await copra.jobs.create(request, twice)];
  expect(first.id).toBe(second.id);
  const { jobs } = await copra.jobs.cancelMany({ ids: [first.id, "AAAAAAAAAAAAAA"] });
  expect(jobs.map(({ id, error }) => [id, error?.error_code])).toContainEqual(["AAAAAAAAAAAAAA", "job_not_found"]);
  const stranger = new Copra({ url: stack.api, key: `k-${"0".repeat(32)}` });
  await expect(stranger.jobs.get(first.id)).rejects.toBeInstanceOf(CopraError);
});
