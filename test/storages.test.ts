// Real jobs with results in each kind of storage other than S3 buckets. The tests inspect the stored files.
import { afterAll, beforeAll, expect, it } from "vitest";
import { fileFolder, untilEnd } from "./fixtures.ts";
import { look } from "./look.ts";
import { makeClip } from "./media.ts";
import type { JobView } from "./services/api-client.ts";
import { type Azurite, startAzurite } from "./services/azurite.ts";
import { startFormReceiver } from "./services/form-receiver.ts";
import { startSourceServer } from "./services/source-server.ts";
import { sharedStack } from "./stack.ts";

const folder = fileFolder();
const stack = sharedStack();
const sources = untilEnd(await startSourceServer(folder));
const receiver = untilEnd(await startFormReceiver("encoded_video"));
let azurite: Azurite;

beforeAll(async () => {
  azurite = await startAzurite();
});
afterAll(async () => {
  await azurite?.stop();
});

/**
 * A large video and two images. Storages with multipart uploads get the video in parts,
 * during its encode.
 */
const LARGE = {
  "mp4:mpeg4_640x360_60000k": { path: "/x/large ü.mp4" },
  "jpg:160x90": { path: "x/%02d.jpg", number: 2 },
};

async function run(storage: object, outputs: object, clip: string): Promise<JobView> {
  const { id } = await stack.submit({ input: { url: sources.urlOf(clip) }, outputs, storage });
  const job = await stack.waitForJob(id);
  expect(job).toMatchObject({ status: "job.completed" });
  return job;
}

async function expectLarge(job: JobView, base: string, query = ""): Promise<void> {
  expect(job.outputs[0]?.url).toBe(`${base}/x/large%20%C3%BC.mp4${query}`);
  expect(job.outputs[1]?.urls).toEqual([`${base}/x/01.jpg${query}`, `${base}/x/02.jpg${query}`]);
  const { frames, probe } = await look(job.outputs[0]?.url);
  expect(frames).toBe(90);
  expect(Number(probe.format.size)).toBeGreaterThan(16 * 2 ** 20);
  for (const url of job.outputs[1]?.urls ?? []) expect((await look(String(url))).video?.codec_name).toBe("mjpeg");
}

it("the service's own storage keeps results, and serves ranges of them", async () => {
  const job = await run({ service: "coconut", path: "v" }, LARGE, await makeClip("noise.mp4", folder));
  const { origin } = new URL(stack.api);
  await expectLarge(job, `${origin}/storage/${job.id}/v`);
  const url = String(job.outputs[0]?.url);
  const head = await fetch(url, { method: "HEAD" });
  const size = Number(head.headers.get("content-length"));
  expect([head.status, head.headers.get("content-type"), size > 16 * 2 ** 20]).toEqual([200, "video/mp4", true]);
  const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
  const [start, end] = [16 * 2 ** 20 - 5, 16 * 2 ** 20 + 4];
  const part = await fetch(url, { headers: { range: `bytes=${start}-${end}` } });
  expect([part.status, part.headers.get("content-range")]).toEqual([206, `bytes ${start}-${end}/${size}`]);
  expect(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(start, end + 1))).toBe(true);
});

it("a container of Azure receives results, large files in blocks", async () => {
  const { endpoint, account, key, container } = azurite;
  const credentials = { account, api_key: key };
  const storage = { service: "azure", endpoint, container, credentials, path: "/vod/", cache_control: "max-age=9" };
  const job = await run(storage, LARGE, await makeClip("noise.mp4", folder));
  await expectLarge(job, `${endpoint}/${container}/vod`);
  const stored = await fetch(String(job.outputs[0]?.url), { method: "HEAD" });
  expect([stored.headers.get("content-type"), stored.headers.get("cache-control")]).toEqual(["video/mp4", "max-age=9"]);
  const input = { service: "azure", endpoint, container, credentials, key: "vod/x/large ü.mp4" };
  const again = await stack.submit({ input, outputs: { "mp4:240p": { path: "from-azure.mp4", duration: 2 } } });
  expect((await stack.waitForJob(again.id)).status).toBe("job.completed");
  const source = `${endpoint}/${container}/vod/x/large%20%C3%BC.mp4`;
  expect((await stack.request("GET", `/jobs/${again.id}`)).body).toMatchObject({ input: { source } });
  const { body } = await stack.request("GET", `/jobs/${again.id}/request`);
  expect(body).toMatchObject({
    request: { input: { service: "azure" } },
    left_out: expect.arrayContaining(["input.credentials"]),
  });
  expect(JSON.stringify(body)).not.toContain(key);
});

it("an upload address receives each result in a form", async () => {
  const { host } = new URL(receiver.origin);
  const storage = { url: `http://user:pass%20word@${host}/in/?token=7` };
  const job = await run(storage, LARGE, await makeClip("noise.mp4", folder));
  await expectLarge(job, `${receiver.origin}/in`, "?token=7");
  expect(receiver.received.map(({ fileName, contentType }) => [fileName, contentType]).sort()).toEqual([
    ["01.jpg", "image/jpeg"],
    ["02.jpg", "image/jpeg"],
    ["large ü.mp4", "video/mp4"],
  ]);
  const [video, image] = ["mp4:mpeg4_640x360_60000k", "jpg:160x90"];
  for (const { authorization, contentType, fields } of receiver.received) {
    expect(authorization).toBe(`Basic ${btoa("user:pass word")}`);
    expect(fields).toEqual(
      contentType === "video/mp4"
        ? { job_id: job.id, output_key: video, output_type: "video", video_id: video, encoded_video_id: video }
        : { job_id: job.id, output_key: image, output_type: "image" },
    );
  }
  for (const path of [`/jobs/${job.id}`, `/metadata/jobs/${job.id}`]) {
    expect(JSON.stringify((await stack.request("GET", path)).body)).not.toMatch(/pass(%20| )word/);
  }
});

it("a job reports the error of its storage", async () => {
  const clip = await makeClip("ntsc.mp4", folder);
  const outputs = { "mp4:240p": { path: "a.mp4" } };
  const { endpoint, account, key } = azurite;
  const azure = { service: "azure", endpoint, container: "elsewhere", credentials: { account, api_key: key } };
  for (const [storage, code, words] of [
    [azure, "storage_bucket_not_found", "ContainerNotFound"],
    [{ url: `${sources.origin}/nowhere` }, "storage_url_not_found", "The upload URL responded with HTTP 404"],
  ] as const) {
    const { id } = await stack.submit({ input: { url: sources.urlOf(clip) }, outputs, storage });
    const { outputs: ended } = await stack.waitForJob(id);
    expect(ended).toMatchObject([{ status: "video.failed", error_code: code, error: expect.stringContaining(words) }]);
  }
});
