// The main job from the request to the stored files, on real sources. The tests inspect every file.
import { copyFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { SLOW } from "../encoder-node/testing/few.ts";
import { startTraceCollector, type TraceCollector } from "../encoder-node/testing/trace-collector.ts";
import { Usage } from "../shared/api/account-responses.ts";
import { fileFolder, untilEnd } from "./fixtures.ts";
import { childrenNamed } from "./hostile/children.ts";
import { look, lookAtFile } from "./look.ts";
import { type ClipName, makeClip, makeLongClip } from "./media.ts";
import type { JobView } from "./services/api-client.ts";
import { startSourceServer } from "./services/source-server.ts";
import { startWebhookReceiver } from "./services/webhook-receiver.ts";
import { isSigned } from "./services/webhook-signature.ts";
import { startTestStack, type TestStack } from "./stack.ts";

const [TRACE, CALLER] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
const TRACE_HEADERS = { traceparent: `00-${TRACE}-${CALLER}-01`, tracestate: "a=1" };

const folder = fileFolder();
let stack: TestStack;
const sources = untilEnd(await startSourceServer(folder));
const webhooks = untilEnd(await startWebhookReceiver());
let collector: TraceCollector;

beforeAll(async () => {
  collector = await startTraceCollector();
  // Processes of a stack inherit the environment.
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint);
  stack = await startTestStack();
});
afterAll(async () => {
  await stack?.stop();
  collector?.close();
});

async function encode(
  clip: ClipName,
  outputs: object,
  more: object = {},
  headers: Record<string, string> = {},
): Promise<JobView> {
  const path = await makeClip(clip, folder);
  const { id } = await stack.submit({ input: { url: sources.urlOf(path) }, outputs, ...more }, headers);
  return stack.waitForJob(id);
}

const output = (job: JobView, key: string): JobView["outputs"][number] => {
  const output = job.outputs.find((candidate) => candidate.key === key);
  if (!output) throw new Error(`No output ${key}`);
  return output;
};

describe("a video of 29.97 frames per second with audio", () => {
  let job: JobView;
  beforeAll(async () => {
    const outputs = {
      "mp4:240p": { path: "/ntsc/240p.mp4" },
      "mp4:720p": { key: "big", path: "ntsc/720p.mp4" },
      "mp4:x180:x:quality=2": { path: "ntsc/silent trim.mp4", duration: 1 },
      "jpg:160x90": [
        { path: "ntsc/thumb-%02d.jpg", number: 5 },
        { path: "ntsc/square.jpg", square: true },
      ],
    };
    const notification = { type: "http", url: webhooks.url, events: true, metadata: true, params: { ref: "a b&c" } };
    job = await encode("ntsc.mp4", outputs, { notification }, TRACE_HEADERS);
  });

  it("has the requested outputs", async () => {
    expect(job).toMatchObject({ status: "job.completed", progress: "100%", input: { status: "input.transferred" } });
    expect(job.outputs.map(({ key, status }) => `${key} ${status}`)).toEqual([
      "mp4:240p video.encoded",
      "big video.encoded",
      "mp4:x180:x:quality=2 video.encoded",
      "jpg:160x90:1 image.created",
      "jpg:160x90:2 image.created",
    ]);
    const source = await lookAtFile(join(folder, "ntsc.mp4"));
    for (const [key, width, height] of [
      ["mp4:240p", 426, 240],
      ["big", 1280, 720],
    ] as const) {
      const { video, audio, frames, durationMs } = await look(output(job, key).url);
      expect([video?.codec_name, video?.width, video?.height, video?.avg_frame_rate]).toEqual([
        "h264",
        width,
        height,
        "30000/1001",
      ]);
      expect([audio?.codec_name, audio?.channels]).toEqual(["aac", 2]);
      expect(frames).toBe(source.frames);
      expect(Math.abs((durationMs ?? 0) - (source.durationMs ?? 0))).toBeLessThan(40);
    }
  });

  it("is trimmed, muted and scaled as requested", async () => {
    const { url } = output(job, "mp4:x180:x:quality=2");
    expect(url).toBe(`${stack.s3.endpoint}/${stack.s3.bucket}/ntsc/silent%20trim.mp4`);
    const { video, audio, frames } = await look(url);
    expect([video?.width, video?.height, audio, frames]).toEqual([320, 180, undefined, 30]);
  });

  it("has images of the requested size", async () => {
    const { urls = [] } = output(job, "jpg:160x90:1");
    expect(urls.map((url) => String(url).split("/").at(-1))).toEqual([1, 2, 3, 4, 5].map((n) => `thumb-0${n}.jpg`));
    const sizes = await Promise.all(
      [...urls, ...(output(job, "jpg:160x90:2").urls ?? [])].map((url) => look(String(url))),
    );
    expect(sizes.map(({ video }) => `${video?.codec_name} ${video?.width}x${video?.height}`)).toEqual([
      ...Array.from({ length: 5 }, () => "mjpeg 160x90"),
      "mjpeg 160x160",
    ]);
  });

  it("has complete metadata", async () => {
    const { body } = await stack.request("GET", `/metadata/jobs/${job.id}`);
    const { metadata } = body as {
      metadata: { input: object; outputs: Record<string, { format: object; streams: object[] }>[] };
    };
    expect(metadata.outputs.map((entry) => Object.keys(entry)[0])).toEqual([
      ...["mp4:240p", "big", "mp4:x180:x:quality=2", "jpg:160x90:1", "jpg:160x90:2"],
    ]);
    expect(metadata.input).toMatchObject({
      format: { filename: sources.urlOf("ntsc.mp4"), nb_streams: 2, probe_score: 100 },
    });
    const response = await stack.request("GET", `/metadata/jobs/${job.id}/mp4:240p`);
    expect(response.body).toMatchObject({ job_id: job.id, metadata: metadata.outputs[0] });
    expect(metadata.outputs[0]?.["mp4:240p"]).toMatchObject({
      format: { filename: output(job, "mp4:240p").url, size: expect.stringMatching(/^\d+$/), probe_score: 100 },
      streams: [
        {
          codec_name: "h264",
          codec_long_name: expect.any(String),
          profile: "High",
          codec_time_base: "1001/60000",
          codec_tag_string: "avc1",
          pix_fmt: "yuv420p",
          nb_frames: expect.stringMatching(/^\d+$/),
          bit_rate: expect.stringMatching(/^\d+$/),
          has_b_frames: 2,
          is_avc: "true",
          disposition: expect.objectContaining({ default: 1 }),
        },
        {
          codec_name: "aac",
          sample_rate: "44100",
          channel_layout: "stereo",
          max_bit_rate: expect.stringMatching(/^\d+$/),
        },
      ],
    });
    for (const name of ["input", "source"]) {
      const { body: named } = await stack.request("GET", `/metadata/jobs/${job.id}/${name}`);
      expect(named).toEqual({ job_id: job.id, metadata: { [name]: metadata.input } });
    }
  });

  it("is announced by signed webhooks, in order", async () => {
    await webhooks.waitFor(({ body }) => body?.event === "job.completed");
    const events = webhooks.events().map(({ body }) => body?.event);
    expect(events).toEqual([
      "input.transferred",
      ...Array.from({ length: 5 }, () => "output.completed"),
      "job.completed",
    ]);
    for (const webhook of webhooks.received) {
      expect(isSigned(webhook.headers, webhook.raw, stack.webhookSecret, webhook.at)).toBe(true);
      expect([webhook.method, webhook.path]).toEqual(["POST", "/webhook?ref=a%20b%26c"]);
    }
    const last = webhooks.events().at(-1)?.body;
    expect(last).toMatchObject({
      job_id: job.id,
      event: "job.completed",
      metadata: true,
      data: { type: "job", id: job.id, status: "job.completed", progress: "100%", completed_at: job.completed_at },
    });
  });

  it("continues its caller's trace in webhooks, spans and log lines", async () => {
    const parents = webhooks.events().map(({ headers }) => String(headers.traceparent));
    for (const parent of parents) expect(parent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    expect(new Set([...parents, TRACE_HEADERS.traceparent]).size).toBe(parents.length + 1);
    expect(webhooks.received[0]?.headers.tracestate).toBe("a=1");
    const spans = () => collector.spans.filter(({ attributes }) => attributes["copra.job"] === job.id);
    await expect.poll(() => spans().map(({ name }) => name)).toEqual(["task inspect", "task encode"]);
    expect(spans().every(({ traceId, parentSpanId }) => traceId === TRACE && parentSpanId === CALLER)).toBe(true);
    const done = stack
      .log("node-1")
      .split("\n")
      .filter((line) => line.includes(`"job":"${job.id}"`) && line.includes("task completed"));
    expect(done.map((line) => JSON.parse(line).trace_id)).toEqual([TRACE, TRACE]);
  });

  it("appears in the usage of its account", async () => {
    const usage = async () => Usage.parse((await stack.request("GET", "/usage")).body).total;
    await expect.poll(async () => (await usage()).jobs).toEqual({ completed: 1, failed: 0, cancelled: 0 });
    const { output_seconds: seconds, node_seconds, stored_bytes } = await usage();
    const { durationMs } = await lookAtFile(join(folder, "ntsc.mp4"));
    // The clip at 240 lines and a second at 180 lines count as SD; the clip at 720 lines counts as HD.
    expect(seconds).toMatchObject({ audio: 0, uhd: 0 });
    expect(seconds.sd).toBeCloseTo((durationMs ?? 0) / 1000 + 1, 0);
    expect(seconds.hd).toBeCloseTo((durationMs ?? 0) / 1000, 0);
    expect(node_seconds).toBeGreaterThan(0.1);
    const urls = job.outputs.flatMap(({ url, urls = [] }) => [...(url ? [url] : []), ...urls.map(String)]);
    const sizes = await Promise.all(urls.map(async (url) => (await (await fetch(url)).arrayBuffer()).byteLength));
    expect(stored_bytes).toBe(sizes.reduce((sum, bytes) => sum + bytes, 0));
  });
});

describe("other sources", () => {
  it("that are rotated by metadata become portrait outputs", SLOW, async () => {
    const job = await encode("rotated.mp4", {
      "mp4:240p": { path: "rotated.mp4" },
      "jpg:x90": { path: "rotated.jpg" },
    });
    const { video } = await look(output(job, "mp4:240p").url);
    expect([video?.width, video?.height, video?.side_data_list, video?.tags?.rotate]).toEqual([
      136,
      240,
      undefined,
      undefined,
    ]);
    const image = await look(String(output(job, "jpg:x90").urls?.[0]));
    expect([image.video?.width, image.video?.height]).toEqual([51, 90]);
    const { body } = await stack.request("GET", `/metadata/jobs/${job.id}/input`);
    expect(body).toMatchObject({ metadata: { input: { streams: [{ tags: { rotate: "270" } }, {}] } } });
  });

  it("without audio make silent files, of any size", SLOW, async () => {
    const job = await encode("silent.mp4", { mp4: { path: "silent.mp4" } });
    const { video, audio, frames } = await look(output(job, "mp4").url);
    expect([video?.width, video?.height, audio, frames]).toEqual([322, 182, undefined, 75]);
  });

  it("of a varying frame rate keep their frames, and transport streams keep their length", SLOW, async () => {
    const uneven = await encode("uneven.mkv", { mp4: { path: "uneven.mp4" } });
    const source = await lookAtFile(join(folder, "uneven.mkv"));
    expect((await look(output(uneven, "mp4").url)).frames).toBe(source.frames);
    const broadcast = await encode("broadcast.ts", { mp4: { path: "broadcast.mp4" } });
    const { frames, durationMs } = await look(output(broadcast, "mp4").url);
    expect(frames).toBe(75);
    expect(Math.abs((durationMs ?? 0) - 3000)).toBeLessThan(60);
  });

  it("with audio only produce audio, and an error for each image and video", async () => {
    const job = await encode("audio-only.m4a", {
      "mp4:240p": { path: "no.mp4" },
      "mp4:x:64k": { path: "audio.mp4" },
      "jpg:90x": { path: "no.jpg" },
    });
    expect(job.status).toBe("job.failed");
    expect(job.outputs).toMatchObject([
      { status: "video.failed", error: expect.stringMatching(/no video/i), error_code: "input_has_no_video" },
      { status: "video.encoded" },
      { status: "image.failed", error_code: "input_has_no_video" },
    ]);
    const { video, audio } = await look(job.outputs[1]?.url);
    expect([video, audio?.codec_name]).toEqual([undefined, "aac"]);
  });

  it("that are missing or no media fail the input with an error message", async () => {
    const text = await encode("text.mp4", { mp4: { path: "text.mp4" } });
    expect(text).toMatchObject({
      status: "job.failed",
      progress: "100%",
      input: { status: "input.failed", error: expect.stringMatching(/\w+ .*\./), error_code: "input_not_media" },
      outputs: [{ status: "video.failed" }],
    });
    const { id } = await stack.submit({
      input: { url: `${sources.origin}/nowhere.mp4` },
      outputs: { mp4: { path: "no.mp4" } },
    });
    expect(await stack.waitForJob(id)).toMatchObject({ status: "job.failed", input: { error_code: "input_http_404" } });
  });
});

describe("a job that is cancelled by its client", () => {
  it("stops its encoder at once, and leaves nothing behind", async () => {
    const clip = await makeLongClip(folder, 30, "320x180");
    const { id } = await stack.submit({
      input: { url: sources.urlOf(clip) },
      outputs: { "mp4:1080p": { path: "cancelled.mp4" } },
      notification: { type: "http", url: webhooks.url },
    });
    // The node may read the source from a file, or while it downloads the source.
    const encoders = async () => {
      const children = await childrenNamed(/ffmpeg/, stack.pids().nodes[0]);
      return children.filter(({ command }) => command.includes("libx264"));
    };
    await expect.poll(encoders).not.toEqual([]);
    const { status, body } = await stack.request("DELETE", `/jobs/${id}`);
    expect([status, body]).toMatchObject([200, { status: "job.aborted", outputs: [{ status: "video.aborted" }] }]);
    await expect.poll(encoders).toEqual([]);
    await expect.poll(() => readdirSync(join(stack.home, "nodes", "1", "tasks"))).toEqual([]);
    expect((await fetch(`${stack.s3.endpoint}/${stack.s3.bucket}/cancelled.mp4`)).status).toBe(404);
    expect(await stack.waitForJob(id)).toMatchObject({ status: "job.aborted", progress: "100%" });
    // The node is free for other work.
    expect((await encode("silent.mp4", { mp4: { path: "after.mp4" } })).status).toBe("job.completed");
  });
});

describe("a job that is retried", () => {
  it("completes once its source exists", async () => {
    const { id } = await stack.submit({
      input: { url: `${sources.origin}/late.mp4` },
      outputs: {
        "mp4:240p": { path: "late.mp4" },
        "mp4:1080p": { path: "never.mp4", if: "{{ input.height }} >= 1080" },
      },
    });
    expect(await stack.waitForJob(id)).toMatchObject({ status: "job.failed", input: { error_code: "input_http_404" } });
    copyFileSync(await makeClip("silent.mp4", folder), join(folder, "late.mp4"));
    expect((await stack.request("POST", `/jobs/${id}/retry`)).status).toBe(200);
    const job = await stack.waitForJob(id);
    expect(job).toMatchObject({
      status: "job.completed",
      outputs: [{ status: "video.encoded" }, { status: "video.skipped" }],
    });
    expect((await look(job.outputs[0]?.url)).frames).toBe(75);
  });
});

describe("storage", () => {
  const storage = (changes: object) => ({ ...stack.storage, ...changes });

  it("that denies the upload or lacks the bucket fails the outputs with an error message", async () => {
    const credentials = { access_key_id: stack.s3.accessKeyId, secret_access_key: "wrong" };
    const denied = await encode("silent.mp4", { mp4: { path: "denied.mp4" } }, { storage: storage({ credentials }) });
    expect(denied.outputs).toMatchObject([{ status: "video.failed", error_code: "storage_denied" }]);
    const lost = await encode(
      "silent.mp4",
      { mp4: { path: "lost.mp4" } },
      { storage: storage({ bucket: "no-such-bucket" }) },
    );
    expect(lost.outputs).toMatchObject([{ status: "video.failed", error_code: "storage_bucket_not_found" }]);
  });

  it("keeps its secret out of all logs", () => {
    const secret = stack.s3.secretAccessKey;
    for (const log of ["control-plane", "node-1", "s3"]) expect(stack.log(log), log).not.toContain(secret);
  });
});
