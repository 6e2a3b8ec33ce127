// Outputs end one by one: the order of stored files and events, failures, and the cost of a dead storage.
import { expect, it } from "vitest";
import { fileFolder, untilEnd } from "./fixtures.ts";
import { makeLongClip } from "./media.ts";
import { startSourceServer } from "./services/source-server.ts";
import { startWebhookReceiver } from "./services/webhook-receiver.ts";
import { sharedStack } from "./stack.ts";

const folder = fileFolder();
const stack = sharedStack();
const sources = untilEnd(await startSourceServer(folder));
const webhooks = untilEnd(await startWebhookReceiver());

it("images are stored and announced before the videos, and a dead storage delays no other job", async () => {
  const input = { url: sources.urlOf(await makeLongClip(folder, 8, "320x180")) };
  const nowhere = { ...stack.storage, endpoint: "http://127.0.0.1:9" };
  const dead = await stack.submit({ input, storage: nowhere, outputs: { "mp4:1080p": { path: "dead.mp4" } } });
  const outputs = {
    httpstream: { path: "order", hls: { path: "hls" }, variants: ["mp4:240p"] },
    "mp4:720p": { path: "order/video.mp4" },
    "jpg:160x": { path: "order/poster.jpg" },
  };
  const notification = { type: "http", url: webhooks.url, events: true };
  const { id } = await stack.submit({ input, outputs, notification });

  const [failed, job] = await Promise.all([stack.waitForJob(dead.id), stack.waitForJob(id)]);
  expect(job).toMatchObject({ status: "job.completed" });
  expect(failed.outputs).toMatchObject([
    {
      status: "video.failed",
      error_code: "storage_unreachable",
      // workerd does not always report the cause.
      error: expect.stringMatching(
        /^The storage at http:\/\/127.0.0.1:9 refuses connections.*; check `storage.endpoint`/,
      ),
    },
  ]);
  expect(stack.log("node-1")).not.toContain(`${dead.id}.encode`);

  await webhooks.waitFor(({ body }) => body?.event === "job.completed");
  const sent = webhooks.events().map(({ body, at }) => ({ event: body?.event, data: Object(body?.data), at }));
  const ended = sent.filter(({ event }) => event === "output.completed");
  expect(ended.map(({ data }) => data.progress)).toEqual(["33%", "66%", "100%"]);
  expect(ended[0]?.data.key).toBe("jpg:160x");
  const s3 = stack.log("s3");
  const at = (name: string): number => s3.search(new RegExp(`"?PUT"?.*order/${name}`));
  expect(at("poster.jpg")).toBeGreaterThan(-1);
  expect(at("poster.jpg")).toBeLessThan(at("video.mp4"));
});

it("an output that names a missing track or caption channel fails alone", async () => {
  const { id } = await stack.submit({
    input: { url: sources.urlOf(await makeLongClip(folder, 8, "320x180")) },
    outputs: {
      vtt: { path: "alone/de.vtt", from: "de" },
      srt: { path: "alone/cc.srt", from: "cc2" },
      "mp4:240p": { path: "alone/video.mp4" },
      "jpg:90x": { path: "alone/poster.jpg" },
    },
  });
  const { status, input, outputs } = await stack.waitForJob(id);
  expect([status, input.status, ...outputs.map((output) => output.error_code ?? output.status)]).toEqual([
    ...["job.failed", "input.transferred", "input_track_not_found", "input_track_not_found"],
    ...["video.encoded", "image.created"],
  ]);
});
