// Jobs on a private bucket. Nodes read and write its objects by signed URLs and never see the keys.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AwsClient } from "aws4fetch";
import { beforeAll, expect, it } from "vitest";
import { createLogger } from "#shared/log.ts";
import { startS3 } from "../local/s3/s3-app.ts";
import { fileFolder, untilEnd } from "./fixtures.ts";
import { look } from "./look.ts";
import { makeClip } from "./media.ts";
import { sharedStack } from "./stack.ts";

const silent = createLogger({ write: () => {}, now: Date.now, level: "error" });
/** Credentials of a separate account; the stack has its own. */
const credentials = { accessKeyId: "SOURCES", secretAccessKey: "source/secret+key" };
const KEY = "in/video (1) ü.mp4";

const folder = fileFolder();
const options = { port: 0, directory: join(folder, "s3"), bucket: "sources", credentials, isPrivate: true };
const bucket = untilEnd(await startS3(options, silent));
const stack = sharedStack();
let endpoint: string;
const client = new AwsClient({ ...credentials, service: "s3", region: "us-east-1" });

beforeAll(async () => {
  endpoint = `http://127.0.0.1:${bucket.port}`;
  const clip = await makeClip("ntsc.mp4", folder);
  const url = `${endpoint}/sources/${KEY.split("/").map(encodeURIComponent).join("/")}`;
  expect((await client.fetch(url, { method: "PUT", body: readFileSync(clip) })).status).toBe(200);
  expect((await fetch(url)).status).toBe(403);
});

const input = (changes: object = {}) => ({
  service: "s3other",
  endpoint,
  bucket: "sources",
  key: `/${KEY}`,
  force_path_style: true,
  credentials: { access_key_id: credentials.accessKeyId, secret_access_key: credentials.secretAccessKey },
  ...changes,
});
const storage = (changes: object = {}) => {
  const { key: _, ...bucket } = input(changes);
  return { ...bucket, path: "/out" };
};
const encode = async (job: object) => {
  const { id } = await stack.submit({ input: input(), outputs: { "mp4:240p": { path: "240p.mp4" } }, ...job });
  return stack.waitForJob(id);
};
const wrongSecret = { credentials: { access_key_id: "SOURCES", secret_access_key: "wrong" } };

it("encodes a source in a private bucket and shows its URL without the signature", async () => {
  const job = await encode({});
  expect(job).toMatchObject({ status: "job.completed", outputs: [{ status: "video.encoded" }] });
  expect((await look(job.outputs[0]?.url)).video?.height).toBe(240);
  const { body } = await stack.request("GET", `/metadata/jobs/${job.id}/input`);
  expect(body).toMatchObject({
    metadata: { input: { format: { filename: `${endpoint}/sources/in/video%20%281%29%20%C3%BC.mp4` } } },
  });
  expect(stack.log("node-1") + stack.log("control-plane")).not.toMatch(/X-Amz-Signature|source\/secret/);
});

it.each<[string, object, string, RegExp]>([
  ["with a wrong secret", wrongSecret, "input_http_403", /access is denied; check the input's credentials/],
  [
    "that is not there",
    { key: "nowhere.mp4" },
    "input_http_404",
    /file does not exist; check the URL, or the bucket and key/,
  ],
  ["in no bucket", { bucket: "nowhere" }, "input_http_404", /file does not exist/],
])("a source %s fails the input with an error message", async (_, changes, code, words) => {
  const job = await encode({ input: input(changes) });
  expect(job).toMatchObject({
    status: "job.failed",
    input: { status: "input.failed", error_code: code, error: expect.stringMatching(words) },
  });
  expect(JSON.stringify(job)).not.toContain("X-Amz-");
});

it("stores outputs with the requested headers", async () => {
  const job = await encode({ storage: { ...storage(), cache_control: "max-age=60", expires: "2026-10-21" } });
  expect(job).toMatchObject({ status: "job.completed", outputs: [{ url: `${endpoint}/sources/out/240p.mp4` }] });
  const stored = await client.fetch(String(job.outputs[0]?.url), { method: "HEAD" });
  expect([stored.headers.get("content-type"), stored.headers.get("cache-control")]).toEqual([
    "video/mp4",
    "max-age=60",
  ]);
});

it.each<[string, object, string, RegExp]>([
  ["with a wrong secret", wrongSecret, "storage_denied", /SignatureDoesNotMatch\): the secret does not match/],
  [
    "of a stranger",
    { credentials: { access_key_id: "STRANGER", secret_access_key: "x" } },
    "storage_denied",
    /InvalidAccessKeyId\): the access key id does not exist/,
  ],
  [
    "without the bucket",
    { bucket: "nowhere" },
    "storage_bucket_not_found",
    /NoSuchBucket\): the bucket does not exist/,
  ],
])("a storage %s fails the outputs with an error message", async (_, changes, code, words) => {
  const job = await encode({ storage: storage(changes) });
  expect(job).toMatchObject({
    status: "job.failed",
    // The storage check runs in parallel with the transfer.
    input: { status: expect.stringMatching(/^input\.(starting|transferring|transferred)$/) },
    outputs: [{ status: "video.failed", error_code: code, error: expect.stringMatching(words) }],
  });
});
