import { createDecipheriv } from "node:crypto";
import { appendFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { storageAgent } from "../network/storage-agent.ts";
import { CLIP, clipPath, loopback, md5, partsOf, storage, upload, useUploads } from "../testing/jobs/upload-storage.ts";
import { bytesContent, encryptedContent, fileContent, rangeContent } from "./content.ts";

useUploads();

describe("upload parts", () => {
  it("uploads parts byte for byte, four at a time, with length and headers", async () => {
    const { origin, received, mostOpen } = await storage(undefined, 4);
    const progress: number[] = [];
    const result = await upload(partsOf(origin, 500_000), { onProgress: (bytes) => progress.push(bytes) });
    received.sort((a, b) => Number(/=(\d+)&/.exec(a.url)?.[1]) - Number(/=(\d+)&/.exec(b.url)?.[1]));
    expect(received.length).toBe(13);
    expect(Buffer.concat(received.map(({ body }) => body)).equals(CLIP)).toBe(true);
    for (const { method, headers, body } of received) {
      expect(headers["user-agent"]).toMatch(/^copra-node\/\d/);
      expect(method).toBe("PUT");
      expect(headers).toMatchObject({
        "content-length": String(body.length),
        "content-type": "video/mp4",
        "x-amz-acl": "private",
      });
      expect(headers).not.toHaveProperty("transfer-encoding");
    }
    expect(result.sizeBytes).toBe(CLIP.length);
    expect(result.etags).toEqual(received.map(({ body }) => md5(body)));
    expect(mostOpen()).toBe(4);
    expect(progress.at(-1)).toBe(CLIP.length);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  });

  it("uploads a single, empty part", async () => {
    const { origin, received } = await storage();
    expect((await upload(partsOf(origin, CLIP.length))).etags.length).toBe(1);
    const empty = `${clipPath}.empty`;
    await writeFile(empty, "");
    expect(await upload(partsOf(origin, 1000, 0), { content: await fileContent(empty) })).toMatchObject({
      sizeBytes: 0,
    });
    expect(received.map(({ body, headers }) => [body.length, headers["content-length"]])).toEqual([
      [CLIP.length, String(CLIP.length)],
      [0, "0"],
    ]);
  });
});

it("connects to allowed addresses only, and fails at once otherwise", async () => {
  const { origin, tries } = await storage();
  const strict = storageAgent("none");
  for (const [through, host] of [
    [strict, origin],
    [strict, origin.replace("127.0.0.1", "localhost")],
    [loopback, "http://169.254.169.254"],
  ] as const) {
    await expect(upload(partsOf(host, CLIP.length), { storages: through })).rejects.toMatchObject({
      code: "node_failed",
      message: expect.stringContaining(`host \`${new URL(host).hostname}\` is not a public address`),
    });
  }
  expect(tries.size).toBe(0);
  await strict.destroy();
});

it("blames the node when the size of the file differs from the announced size", async () => {
  const { origin, tries } = await storage();
  await expect(upload(partsOf(origin, 500_000, 400_000))).rejects.toMatchObject({ code: "node_failed" });
  await expect(fileContent(`${clipPath}.gone`)).rejects.toMatchObject({
    code: "node_failed",
    message: "A finished file does not exist.",
  });
  expect(tries.size).toBe(0);
});

describe("contents", () => {
  it("uploads bytes in memory, or a range of a growing file", async () => {
    const { origin, received } = await storage();
    const growing = `${clipPath}.growing`;
    await writeFile(growing, CLIP.subarray(0, 1_000_000));
    const range = rangeContent(growing, 300_001, 600_000);
    await appendFile(growing, CLIP.subarray(1_000_000));
    await upload(partsOf(origin, 1_000_000, 600_000), { content: range });
    await upload(partsOf(origin, 1000, 5), { content: bytesContent(CLIP.subarray(0, 5)) });
    const expected = [CLIP.subarray(300_001, 900_001), CLIP.subarray(0, 5)];
    expect(received.map(({ body }, at) => body.equals(expected[at] ?? CLIP))).toEqual([true, true]);
  });

  it("blames the node when the disk holds fewer bytes than announced", async () => {
    const { origin } = await storage();
    for (const content of [rangeContent(clipPath, 1, CLIP.length), rangeContent(`${clipPath}.gone`, 0, CLIP.length)]) {
      await expect(upload(partsOf(origin, CLIP.length), { content })).rejects.toMatchObject({
        code: "node_failed",
        message: "The node cannot read a finished file from its disk.",
      });
    }
  });

  const key = Buffer.from("000102030405060708090a0b0c0d0e0f", "hex");
  const iv = Buffer.alloc(16, 7);
  it.each([0, 15, 16, 17, 188 * 1000, 5_999_990])(
    "encrypts contents of %i bytes again with each attempt",
    async (sizeBytes) => {
      const { origin, received } = await storage(
        (_, response, attempt) => attempt === 1 && !response.writeHead(503).end().destroyed,
      );
      const content = encryptedContent(rangeContent(clipPath, 3, sizeBytes), key, iv);
      await upload(partsOf(origin, 3_000_001, content.sizeBytes), { content });
      const inOrder = received.toSorted((a, b) => a.url.localeCompare(b.url)).map(({ body }) => body);
      const decipher = createDecipheriv("aes-128-cbc", key, iv);
      const plain = Buffer.concat([decipher.update(Buffer.concat(inOrder)), decipher.final()]);
      expect(plain.equals(CLIP.subarray(3, 3 + sizeBytes))).toBe(true);
    },
  );
});

it("rejects with the reason of an abort, at once", async () => {
  const { origin } = await storage((request) => !!request.resume());
  const controller = new AbortController();
  const reason = new Error("superseded");
  const onProgress = (): void => controller.abort(reason);
  await expect(upload(partsOf(origin, 500_000), { signal: controller.signal, onProgress })).rejects.toBe(reason);
  await expect(upload(partsOf(origin, 500_000), { signal: controller.signal })).rejects.toBe(reason);
});
