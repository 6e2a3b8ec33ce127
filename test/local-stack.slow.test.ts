// The local system loses nothing when its processes are killed or when it restarts.
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { startStack } from "../local/stack/stack.ts";
import { fileFolder, untilEnd } from "./fixtures.ts";
import { makeLongClip } from "./media.ts";
import { startSourceServer } from "./services/source-server.ts";
import { startWebhookReceiver } from "./services/webhook-receiver.ts";
import { isSigned } from "./services/webhook-signature.ts";
import { startTestStack, type TestStack } from "./stack.ts";

const folder = fileFolder();
let stack: TestStack;
const sources = untilEnd(await startSourceServer(folder));
const webhooks = untilEnd(await startWebhookReceiver({ failFirst: 1 }));

beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(async () => {
  await stack?.stop();
});

const progressOf = async (id: string): Promise<number> => {
  const { body } = await stack.request("GET", `/jobs/${id}`);
  return Number.parseInt((body as { progress: string }).progress, 10);
};

it("rejects a second stack in its home folder", async () => {
  const settings = { home: stack.home, port: 0, s3Port: 0, nodes: 0 };
  await expect(startStack(settings)).rejects.toThrow(`A Copra already runs in ${stack.home} (process ${process.pid})`);
});

it("describes itself in a valid OpenAPI document", async () => {
  const { headers, body } = await stack.request("GET", "/openapi.json");
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  const validator = new Validator();
  expect(await validator.validate(z.record(z.string(), z.unknown()).parse(body))).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
});

it("exposes no developer routes on its port, and trusts no header that names the caller", async () => {
  const origin = new URL(stack.api).origin;
  for (const path of ["local/r2/public/copra-storage/a/b.jpg", "local/platform-proxy", "local/scheduled", "x"]) {
    const answer = await fetch(`${origin}/cdn-cgi/${path}`);
    expect([path, answer.status, await answer.json()]).toEqual([
      path,
      404,
      expect.objectContaining({ error_code: "route_not_found" }),
    ]);
  }
  const health = `${stack.api}/health`;
  for (const url of ["x", `${stack.api}/admin/accounts`]) {
    expect((await fetch(health, { headers: { "MF-Original-URL": url } })).status).toBe(200);
  }
});

it("completes a job although every process is killed meanwhile, and keeps it across a restart", async () => {
  const clip = await makeLongClip(folder, 20);
  const { id } = await stack.submit({
    input: { url: sources.urlOf(clip) },
    outputs: { "mp4:720p": { path: "/killed.mp4" } },
    notification: { type: "http", url: webhooks.url },
  });
  await expect.poll(() => progressOf(id)).toBeGreaterThan(10);
  const all = ({ controlPlane, s3, nodes }: ReturnType<TestStack["pids"]>): number[] => [controlPlane, s3, ...nodes];
  const killed = all(stack.pids());
  for (const pid of killed) process.kill(pid, "SIGKILL");

  // Long before the leases expire.
  const job = await stack.waitForJob(id);
  expect([job.status, job.outputs[0]?.status]).toEqual(["job.completed", "video.encoded"]);
  expect(all(stack.pids()).filter((pid) => killed.includes(pid))).toEqual([]);
  // The receiver rejected the first delivery. An alarm sends the next delivery five seconds later.
  const webhook = await webhooks.waitFor(({ body }) => body?.job_id === id);
  expect(isSigned(webhook.headers, webhook.raw, stack.webhookSecret, webhook.at)).toBe(true);

  stack = await stack.restart();
  const { body } = await stack.request("GET", `/jobs/${id}`);
  expect(body).toMatchObject({ id, status: "job.completed" });
  const stored = await fetch(String(job.outputs[0]?.url), { method: "HEAD" });
  expect([stored.status, stored.headers.get("content-type")]).toEqual([200, "video/mp4"]);
});
