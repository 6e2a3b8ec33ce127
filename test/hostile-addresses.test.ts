// Jobs whose URLs redirect into the service's own network, which only the request itself can detect.
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type LoopbackServer, serveLoopback } from "../local/demo/loopback-server.ts";
import { fileFolder } from "./fixtures.ts";
import { makeClip } from "./media.ts";
import { type SourceServer, startSourceServer } from "./services/source-server.ts";
import { sharedStack } from "./stack.ts";

const folder = fileFolder();
const stack = sharedStack();
let sources: SourceServer;
let redirector: LoopbackServer;
let elsewhere: LoopbackServer;
const requests: string[] = [];

beforeAll(async () => {
  sources = await startSourceServer(folder);
  elsewhere = await serveLoopback((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.end();
  });
  redirector = await serveLoopback((request, response) => {
    const inside = "http://169.254.169.254/latest/meta-data/iam/security-credentials/";
    const location = request.method === "GET" ? inside : `${elsewhere.origin}${request.url}`;
    request.resume().once("end", () => response.writeHead(307, { location }).end());
  });
});
afterAll(async () => {
  await Promise.all([sources, redirector, elsewhere].map((server) => server?.close()));
});

/** A URL that looks harmless and contains a secret. */
const trick = (path: string): string => `${redirector.origin.replace("//", "//user:hunter2@")}/${path}?token=hunter2`;

/** The API's answers at these paths. */
async function answersAt(...paths: readonly string[]): Promise<string> {
  const answers = await Promise.all(paths.map((path) => stack.request("GET", path)));
  expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
  return JSON.stringify(answers.map(({ body }) => body));
}

it("follows no redirect of a source into its own network", async () => {
  const { id } = await stack.submit({ input: { url: trick("a.mp4") }, outputs: { "mp4:160x90": { path: "a.mp4" } } });
  expect(await stack.waitForJob(id)).toMatchObject({
    status: "job.failed",
    input: { error_code: "input_address_not_allowed", error: expect.stringContaining("169.254.169.254") },
  });
  expect(await answersAt(`/jobs/${id}`)).not.toContain("hunter2");
});

it("follows no redirect of a watermark or subtitles into its network, and makes all other outputs", async () => {
  const clip = await makeClip("ntsc.mp4", folder);
  const subtitles = [{ url: trick("en.srt"), language: "en" }];
  const { id } = await stack.submit({
    input: { url: sources.urlOf(clip) },
    outputs: {
      "jpg:160x90": { path: "a.jpg" },
      "jpg:90x": { path: "b.jpg", watermark: { url: trick("logo.png") } },
      httpstream: { path: "s", hls: { path: "hls" }, variants: ["mp4:x:64k"], subtitles },
    },
    notification: { type: "http", url: trick("hook") },
  });
  const job = await stack.waitForJob(id);
  expect(job.outputs).toMatchObject([
    { status: "image.created" },
    { status: "image.failed", error_code: "watermark_failed", error: expect.stringContaining("not public") },
    { status: "httpstream.failed", error_code: "subtitle_failed", error: expect.stringContaining("not public") },
  ]);
  const delivered = async () => expect(await answersAt(`/jobs/${id}/notifications`)).toContain("HTTP 307");
  await vi.waitFor(delivered, { interval: 250 });
  expect(await answersAt(`/jobs/${id}`, `/jobs/${id}/notifications`)).not.toContain("hunter2");
  expect(requests).toEqual([]);
});

it("follows no redirect of an upload address", async () => {
  const clip = await makeClip("ntsc.mp4", folder);
  const { id } = await stack.submit({
    input: { url: sources.urlOf(clip) },
    outputs: { "jpg:160x90": { path: "a.jpg" } },
    storage: { url: trick("in") },
  });
  expect(await stack.waitForJob(id)).toMatchObject({
    status: "job.failed",
    outputs: [{ error_code: "storage_denied", error: expect.stringContaining("redirects are not followed") }],
  });
  expect(requests).toEqual([]);
});

it("logs no secrets of the addresses", () => {
  for (const name of ["control-plane", "node-1"]) expect(stack.log(name)).not.toContain("hunter2");
});
