import { afterAll, beforeAll, expect } from "vitest";
import { createLogger } from "#shared/log.ts";
import { fileFolder, it } from "../../../test/fixtures.ts";
import { type S3Server, startS3 } from "../../s3/s3-app.ts";
import { ClusterBucket } from "./bucket.ts";

const silent = createLogger({ write: () => {}, now: Date.now, level: "error" });
const credentials = { accessKeyId: "COPRATEST", secretAccessKey: "right" };
const directory = fileFolder();
let server: S3Server;
beforeAll(async () => {
  server = await startS3({ port: 0, directory, bucket: "copra", isPrivate: true, credentials }, silent);
});
afterAll(() => server.close());

const bucketAt = (port: number, identity: string, secret = credentials.secretAccessKey): ClusterBucket =>
  new ClusterBucket(
    "s3://copra/cluster",
    {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: secret,
    },
    identity,
  );

it("takes a new bucket for one service, whose other instances join it, and refuses all other services", async () => {
  expect(await bucketAt(server.port, "mine").isNew()).toBe(true);
  await Promise.all([1, 2, 3].map(() => bucketAt(server.port, "mine").claim()));
  expect(await bucketAt(server.port, "mine").isNew()).toBe(false);
  await expect(bucketAt(server.port, "another").claim()).rejects.toThrow("has other secrets. Copy secrets.json");
});

it("names the bucket, and what it answered, if it refuses or does not answer", async () => {
  const refused = bucketAt(server.port, "mine", "wrong").claim();
  await expect(refused).rejects.toThrow(/s3:\/\/copra\/cluster refused PUT: HTTP 403 .*SignatureDoesNotMatch/s);
  await expect(bucketAt(9, "mine").claim()).rejects.toThrow("s3://copra/cluster does not answer");
});

it("refuses a store that ignores conditions of writes", async ({ server: careless }) => {
  careless.handle((request, response) => request.resume().on("end", () => response.end()));
  await expect(bucketAt(careless.port, "mine").claim()).rejects.toThrow("ignores If-None-Match on PUT");
});
