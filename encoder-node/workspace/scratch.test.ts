import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { LeaseId } from "#shared/ids.ts";
import { storageAgent } from "../network/storage-agent.ts";
import { type ScratchBucket, startScratchBucket } from "../testing/jobs/scratch-bucket.ts";
import { silentLog as log } from "../testing/silent-log.ts";
import { bytesContent } from "../upload/content.ts";
import { putScratch, type ScratchDeps, scratchName } from "./scratch.ts";

const storages = storageAgent("loopback");
const service = { allow: "loopback" as const, storages };
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

const BYTES = Buffer.from("one chunk");
const fileAt = (task: string) => {
  const name = scratchName(`AAAAAAAAAAAAAA.${task}.1` as LeaseId, "video.mp4");
  return { name, content: bytesContent(BYTES) };
};

it("requests new signatures for files that waited too long", async () => {
  const files = [fileAt("chunk-1"), fileAt("chunk-2")];
  let requests = 0;
  const requestScratch: ScratchDeps["requestScratch"] = (puts, gets) => {
    bucket.expire(requests++ === 0);
    return bucket.requestScratch(puts, gets);
  };
  await putScratch(files, { requestScratch, service, signal, log });
  expect(requests).toBe(3);
  for (const { name } of files) expect(await bucket.get(name)).toEqual(BYTES);
});

it("blames the operator's storage when new signatures are rejected too", async () => {
  bucket.expire(true);
  const file = fileAt("chunk-3");
  await expect(putScratch([file], { ...bucket, service, signal, log })).rejects.toMatchObject({
    code: "node_failed",
    message: expect.stringContaining("The scratch storage does not work"),
  });
  bucket.expire(false);
  expect(await bucket.get(file.name)).toBeNull();
});

it("sends a file again when the response is lost", async () => {
  let tries = 0;
  const stored: string[] = [];
  const server = createServer(async (request, response) => {
    stored.push(Buffer.concat(await request.toArray()).toString());
    if (tries++ === 0) request.socket.destroy();
    else response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/scratch`;
  const requestScratch: ScratchDeps["requestScratch"] = async (puts) => ({
    puts: puts.map(({ sizeBytes }) => ({ url, headers: {}, offset: 0, sizeBytes })),
    gets: [],
  });
  await putScratch([fileAt("chunk-4")], { requestScratch, service, signal, log });
  expect(stored).toEqual([BYTES.toString(), BYTES.toString()]);
  server.close();
});
