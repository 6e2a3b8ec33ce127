// Sources at a host that requires a header of each request.
import { readFileSync } from "node:fs";
import { afterEach, beforeAll, expect, it } from "vitest";
import { closeServers, sendRange, serve, type TestServer } from "../encoder-node/testing/range-server.ts";
import { fileFolder } from "./fixtures.ts";
import { makeClip } from "./media.ts";
import { sharedStack } from "./stack.ts";

const stack = sharedStack();
const TOKEN = "Bearer of-this-test";
const outputs = { "mp4:240p": { path: "headers/240p.mp4" } };

const folder = fileFolder();
let clip: Buffer;
let guarded: TestServer;

beforeAll(async () => {
  clip = readFileSync(await makeClip("ntsc.mp4", folder));
});
afterEach(closeServers);

/** Starts a host that sends the clip for the header. `away` redirects to it. */
async function start(): Promise<{ url: string; away: string }> {
  guarded = await serve((request, response) => {
    if (request.headers.authorization === TOKEN) sendRange(clip, request, response);
    else response.writeHead(401).end();
  });
  const { origin } = await serve((_, response) => void response.writeHead(302, { location: guarded.origin }).end());
  return { url: `${guarded.origin}/clip.mp4`, away: `${origin}/clip.mp4` };
}

const ended = async (input: object) => stack.waitForJob((await stack.submit({ input, outputs })).id);

it("encodes a source with the header, and probes it", async () => {
  const { url } = await start();
  const headers = { Authorization: TOKEN };
  expect((await ended({ url, headers })).status).toBe("job.completed");
  const probe = await stack.request("POST", "/probes?wait=20", { input: { url, headers } });
  expect(probe.body).toMatchObject({ status: "completed", metadata: { format: { filename: url } } });
  expect(guarded.seen.length).toBeGreaterThan(1);
  expect(guarded.seen.filter(({ headers: sent }) => sent.authorization !== TOKEN)).toEqual([]);
});

it("fails without the header, and when another host redirects to the source", async () => {
  const { url, away } = await start();
  expect(await ended({ url })).toMatchObject({ status: "job.failed", input: { error_code: "input_http_401" } });
  const headers = { Authorization: TOKEN };
  expect(await ended({ url: away, headers })).toMatchObject({ input: { error_code: "input_http_401" } });
  expect(guarded.seen.filter(({ headers: sent }) => "authorization" in sent)).toEqual([]);
});
