// Signatures for the parts of a growing file.
import { expect, it } from "vitest";
import { startServer, untilEnd } from "../../test/fixtures.ts";
import { mapLimited } from "../async/in-parallel.ts";
import { loopback } from "../testing/jobs/upload-storage.ts";
import { silentLog } from "../testing/silent-log.ts";
import { bytesContent } from "./content.ts";
import { EarlyParts } from "./early-parts.ts";
import type { RequestUploads } from "./upload.ts";

const PART = 10;
const server = untilEnd(
  await startServer((request, response) => {
    request.resume().on("end", () => response.writeHead(200, { etag: `"${request.url}"` }).end());
  }),
);

it("requests sixteen signatures at a time, also for parts that are sent at the same time", async () => {
  const requested: number[][] = [];
  const requestUploads: RequestUploads = async (files) => {
    const wanted = files[0]?.early?.parts ?? [];
    requested.push([...wanted]);
    await new Promise((waited) => setTimeout(waited, 20));
    const origin = server.origin;
    const parts = wanted.map((part) => {
      return { url: `${origin}/${part}`, headers: {}, offset: part * PART, sizeBytes: PART };
    });
    return { uploads: [{ output: 0, file: 1, partBytes: PART, parts }] };
  };
  const deps = { requestUploads, storages: loopback, signal: new AbortController().signal, log: silentLog };
  const parts = new EarlyParts(0, 1, deps);
  expect(await parts.open()).toBe(PART);
  const content = bytesContent(new Uint8Array(64 * PART));
  const later = Array.from({ length: 63 }, (_, at) => at + 1);
  await mapLimited(later, 4, (part) => parts.send(part, content));
  expect(requested.map((wanted) => [wanted[0], wanted.length])).toEqual([0, 16, 32, 48].map((first) => [first, 16]));
});
