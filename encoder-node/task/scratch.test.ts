import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { LeaseId } from "#shared/ids.ts";
import { guardedAgent } from "../source/fetch/address-guard.ts";
import { type ScratchBucket, startScratchBucket } from "../testing/scratch-bucket.ts";
import { bytesContent } from "../upload/content.ts";
import { storageAddressRefusal } from "../upload/storage-failure.ts";
import { putScratch, type ScratchDeps, scratchName } from "./scratch.ts";

const storages = guardedAgent({ allow: "loopback", refuse: storageAddressRefusal });
const { signal } = new AbortController();
let bucket: ScratchBucket;
beforeAll(async () => {
  bucket = await startScratchBucket();
});
afterEach(() => bucket.expire(false));
afterAll(async () => {
  await storages.destroy();
  await bucket.close();
});

const BYTES = Buffer.from("a chunk of a film");
const fileAt = (task: string) => {
  const name = scratchName(`AAAAAAAAAAAAAA.${task}.1` as LeaseId, "video.mp4");
  return { name, content: bytesContent(BYTES) };
};

it("has files signed anew whose turn came too late", async () => {
  const files = [fileAt("chunk-1"), fileAt("chunk-2")];
  let asked = 0;
  const askScratch: ScratchDeps["askScratch"] = (puts, gets) => {
    bucket.expire(asked++ === 0);
    return bucket.askScratch(puts, gets);
  };
  await putScratch(files, { askScratch, storages, signal });
  expect(asked).toBe(3);
  for (const { name } of files) expect(await bucket.get(name)).toEqual(BYTES);
});

it("blames nobody's storage but the operator's when fresh signatures are refused as well", async () => {
  bucket.expire(true);
  const file = fileAt("chunk-3");
  await expect(putScratch([file], { ...bucket, storages, signal })).rejects.toMatchObject({
    code: "node_failed",
    message: expect.stringContaining("The scratch storage does not work"),
  });
  bucket.expire(false);
  expect(await bucket.get(file.name)).toBeNull();
});

it("is put once more when the answer is lost", async () => {
  let tries = 0;
  const stored: string[] = [];
  const server = createServer(async (request, response) => {
    stored.push(Buffer.concat(await request.toArray()).toString());
    if (tries++ === 0) request.socket.destroy();
    else response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/scratch`;
  const askScratch: ScratchDeps["askScratch"] = async (puts) => ({
    puts: puts.map(({ sizeBytes }) => ({ url, headers: {}, offset: 0, sizeBytes })),
    gets: [],
  });
  await putScratch([fileAt("chunk-4")], { askScratch, storages, signal });
  expect(stored).toEqual([BYTES.toString(), BYTES.toString()]);
  server.close();
});
