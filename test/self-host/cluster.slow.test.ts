import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLogger } from "#shared/log.ts";
import { type S3Server, startS3 } from "../../local/s3/s3-app.ts";
import { basicAuth } from "../../local/stack/access.ts";
import { findFree } from "../../local/stack/ports.ts";
import { fileFolder, startServer, untilEnd } from "../fixtures.ts";
import { makeClip } from "../media.ts";
import { copra, type Served, serve } from "./served.ts";

/** A bucket that a cluster of version 0.3.0 has left, with its secrets. A job in it waits for a node. */
const KEPT = join(import.meta.dirname, "cluster-0.3.0.tar.gz");
const KEPT_JOB = "edaaROisX7dBOm";

const folder = fileFolder();
const credentials = { accessKeyId: "CLUSTER", secretAccessKey: "the-secret-of-the-test" };
const received: { readonly job: string; readonly id: string }[] = [];
let s3: S3Server;
const source = untilEnd(await startServer());
const receiver = untilEnd(
  await startServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { job_id: job } = JSON.parse(Buffer.concat(chunks).toString());
    received.push({ job, id: String(request.headers["webhook-id"]) });
    response.end();
  }),
);

beforeAll(async () => {
  const log = createLogger({ write: () => {}, now: Date.now, level: "error" });
  const directory = join(folder, "s3");
  mkdirSync(directory);
  execFileSync("tar", ["-xzf", KEPT, "-C", folder]);
  s3 = await startS3(
    { port: 0, directory, bucket: "media", privateBuckets: ["cluster", "scratch", "kept"], credentials },
    log,
  );
});
afterAll(async () => {
  await s3.close();
});

/** Starts an instance; it has the secrets of the folder `secretsOf`. */
async function startInstance(name: string, bucket: string, secretsOf?: string): Promise<Served> {
  const home = join(folder, name);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  if (secretsOf !== undefined) copyFileSync(join(folder, secretsOf, "secrets.json"), join(home, "secrets.json"));
  const [port, peers] = [await findFree(), await findFree()];
  const scratch = Object.entries({
    ENDPOINT: `http://127.0.0.1:${s3.port}`,
    REGION: "us-east-1",
    BUCKET: "scratch",
    ACCESS_KEY_ID: credentials.accessKeyId,
    SECRET_ACCESS_KEY: credentials.secretAccessKey,
  }).map(([key, value]) => [`SCRATCH_${key}`, value]);
  return serve({
    home,
    argv: [
      ...["--port", `${port}`, "--nodes", name === "first" ? "0" : "1", "--public-url", `http://127.0.0.1:${port}`],
      ...["--insecure-http", "--allow-private", "all"],
      ...["--cluster", `s3://${bucket}/copra`, "--cluster-address", `127.0.0.1:${peers}`],
    ],
    env: {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${s3.port}`,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      ...Object.fromEntries(scratch),
    },
  });
}

const jobOf = (path: string, input: string) => ({
  input: { url: input },
  storage: {
    service: "s3other",
    bucket: "media",
    region: "us-east-1",
    endpoint: `http://127.0.0.1:${s3.port}`,
    force_path_style: true,
    credentials: { access_key_id: credentials.accessKeyId, secret_access_key: credentials.secretAccessKey },
  },
  notification: { type: "http", url: receiver.origin },
  outputs: { "mp4:x90": { path } },
});

it("moves the data of one machine into a cluster, and completes its jobs there although instances are killed", async () => {
  const clip = await makeClip("silent.mp4", folder);
  source.handle((_, response) => response.end(readFileSync(clip)));
  const input = `${source.origin}/clip.mp4`;
  const statusOf = async ({ stack }: Served, path: string, token = stack.adminToken): Promise<number> =>
    (await fetch(`${stack.api}${path}`, { headers: { authorization: `Bearer ${token}` } })).status;

  // On one machine: a completed job, and a job that waits for a node.
  const ports = ["--port", `${await findFree()}`, "--s3-port", `${await findFree()}`];
  const alone = await serve({
    home: join(folder, "alone"),
    argv: [...ports, "--nodes", "1", "--allow-private", "loopback"],
  });
  const { id: before } = await alone.submit(jobOf("/before.mp4", input));
  expect(await alone.ended(before)).toMatchObject({ status: "job.completed" });
  await alone.stop();
  const nodeless = await serve({
    home: join(folder, "alone"),
    argv: [...ports, "--nodes", "0", "--allow-private", "loopback"],
  });
  const { id: waiting } = await nodeless.submit(jobOf("/waiting.mp4", input));
  await copra("backup", nodeless.home, "-o", join(folder, "backup.tar.gz"));
  await nodeless.stop();
  await copra("restore", join(folder, "backup.tar.gz"), join(folder, "first"));

  let first = await startInstance("first", "cluster");
  expect(await first.job(before)).toMatchObject({ status: "job.completed" });
  const second = await startInstance("second", "cluster", "first");
  expect(await second.ended(waiting)).toMatchObject({ status: "job.completed" });
  expect(await second.job(before)).toEqual(await first.job(before));
  await expect(startInstance("stranger", "cluster")).rejects.toThrow("has other secrets");
  await expect(startInstance("alone", "cluster")).rejects.toThrow("has a cluster already");

  // The instance that has the job's object, and the hub of the node, dies in the middle of an encode.
  const { id: orphan } = await first.submit(jobOf("/orphan.mp4", input));
  await first.kill();
  expect(await second.ended(orphan)).toMatchObject({ status: "job.completed" });
  // An instance that is stopped hands everything over first.
  first = await startInstance("first", "cluster");
  const { id: over } = await second.submit(jobOf("/over.mp4", input));
  expect(await first.stop()).toBe(0);
  expect(await second.ended(over)).toMatchObject({ status: "job.completed" });
  await expect.poll(() => new Set(received.map(({ job }) => job))).toEqual(new Set([before, waiting, orphan, over]));
  expect(new Set(received.map(({ id }) => id)).size).toBe(4);

  // Limits of wrangler.toml hold in workerd, too.
  await expect.poll(() => statusOf(second, "/admin/accounts", "x".repeat(40))).toBe(429);
  await second.stop();
  await expect(serve({ home: second.home, argv: ports })).rejects.toThrow("is of an instance of a cluster");
});

it("goes on with the bucket of the last release", async () => {
  const instance = await startInstance("kept", "kept");
  // Nothing listens at the source's address. After 30 days without a node the job fails, too.
  expect(await instance.ended(KEPT_JOB)).toMatchObject({ status: "job.failed", outputs: [{ key: "mp4:x90" }] });
  const headers = { authorization: basicAuth(instance.stack.apiKey) };
  const template = await fetch(`${instance.stack.api}/templates/kept`, { headers });
  expect(await template.json()).toMatchObject({ name: "kept" });
  await instance.stop();
});
