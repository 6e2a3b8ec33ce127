import { createDecipheriv } from "node:crypto";
import { appendFile, writeFile } from "node:fs/promises";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { guardedAgent } from "../source/fetch/address-guard.ts";
import {
  closeStorages,
  endUploads,
  FILM,
  filmPath,
  loopback,
  md5,
  partsOf,
  storage,
  upload,
} from "../testing/upload-storage.ts";
import { bytesContent, encryptedContent, fileContent, rangeContent } from "./content.ts";
import { storageAddressRefusal } from "./storage-failure.ts";

afterEach(closeStorages);
afterAll(endUploads);

describe("parts", () => {
  it("arrive byte for byte, four at a time, with their length and headers", async () => {
    const { origin, taken, mostOpen } = await storage(undefined, 4);
    const progress: number[] = [];
    const result = await upload(partsOf(origin, 500_000), { onProgress: (bytes) => progress.push(bytes) });
    taken.sort((a, b) => Number(/=(\d+)&/.exec(a.url)?.[1]) - Number(/=(\d+)&/.exec(b.url)?.[1]));
    expect(taken.length).toBe(13);
    expect(Buffer.concat(taken.map(({ body }) => body)).equals(FILM)).toBe(true);
    for (const { method, headers, body } of taken) {
      expect(method).toBe("PUT");
      expect(headers).toMatchObject({
        "content-length": String(body.length),
        "content-type": "video/mp4",
        "x-amz-acl": "private",
      });
      expect(headers).not.toHaveProperty("transfer-encoding");
    }
    expect(result.sizeBytes).toBe(FILM.length);
    expect(result.etags).toEqual(taken.map(({ body }) => md5(body)));
    expect(mostOpen()).toBe(4);
    expect(progress.at(-1)).toBe(FILM.length);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  });

  it("may be one, and empty", async () => {
    const { origin, taken } = await storage();
    expect((await upload(partsOf(origin, FILM.length))).etags.length).toBe(1);
    const empty = `${filmPath}.empty`;
    await writeFile(empty, "");
    expect(await upload(partsOf(origin, 1000, 0), { content: await fileContent(empty) })).toMatchObject({
      sizeBytes: 0,
    });
    expect(taken.map(({ body, headers }) => [body.length, headers["content-length"]])).toEqual([
      [FILM.length, String(FILM.length)],
      [0, "0"],
    ]);
  });
});

it("goes to allowed addresses only, and says so at once", async () => {
  const { origin, tries } = await storage();
  const strict = guardedAgent({ allow: "none", refuse: storageAddressRefusal });
  for (const [through, host] of [
    [strict, origin],
    [strict, origin.replace("127.0.0.1", "localhost")],
    [loopback, "http://169.254.169.254"],
  ] as const) {
    await expect(upload(partsOf(host, FILM.length), { agent: through })).rejects.toMatchObject({
      code: "storage_address_not_allowed",
      message: expect.stringContaining(`host \`${new URL(host).hostname}\` is not a public address`),
    });
  }
  expect(tries.size).toBe(0);
  await strict.destroy();
});

it("blames the node when the file is not what was announced", async () => {
  const { origin, tries } = await storage();
  await expect(upload(partsOf(origin, 500_000, 400_000))).rejects.toMatchObject({ code: "node_failed" });
  await expect(fileContent(`${filmPath}.gone`)).rejects.toMatchObject({
    code: "node_failed",
    message: "A finished file is gone.",
  });
  expect(tries.size).toBe(0);
});

describe("contents", () => {
  it("are sent from bytes at hand, and from a range of a file that grows", async () => {
    const { origin, taken } = await storage();
    const growing = `${filmPath}.growing`;
    await writeFile(growing, FILM.subarray(0, 1_000_000));
    const range = rangeContent(growing, 300_001, 600_000);
    await appendFile(growing, FILM.subarray(1_000_000));
    await upload(partsOf(origin, 1_000_000, 600_000), { content: range });
    await upload(partsOf(origin, 1000, 5), { content: bytesContent(FILM.subarray(0, 5)) });
    const expected = [FILM.subarray(300_001, 900_001), FILM.subarray(0, 5)];
    expect(taken.map(({ body }, at) => body.equals(expected[at] ?? FILM))).toEqual([true, true]);
  });

  it("blame the node when the disk has less than was announced", async () => {
    const { origin } = await storage();
    for (const content of [rangeContent(filmPath, 1, FILM.length), rangeContent(`${filmPath}.gone`, 0, FILM.length)]) {
      await expect(upload(partsOf(origin, FILM.length), { content })).rejects.toMatchObject({
        code: "node_failed",
        message: "The node cannot read a finished file from its disk.",
      });
    }
  });

  const key = Buffer.from("000102030405060708090a0b0c0d0e0f", "hex");
  const iv = Buffer.alloc(16, 7);
  it.each([0, 15, 16, 17, 188 * 1000, 5_999_990])(
    "of %i bytes are encrypted on the way, as often as they are sent",
    async (sizeBytes) => {
      const { origin, taken } = await storage(
        (_, response, asked) => asked === 1 && !response.writeHead(503).end().destroyed,
      );
      const content = encryptedContent(rangeContent(filmPath, 3, sizeBytes), key, iv);
      await upload(partsOf(origin, 3_000_001, content.sizeBytes), { content });
      const inOrder = taken.toSorted((a, b) => a.url.localeCompare(b.url)).map(({ body }) => body);
      const decipher = createDecipheriv("aes-128-cbc", key, iv);
      const plain = Buffer.concat([decipher.update(Buffer.concat(inOrder)), decipher.final()]);
      expect(plain.equals(FILM.subarray(3, 3 + sizeBytes))).toBe(true);
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
