import { once } from "node:events";
import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { CLIP, fetchTo, folder, sendClip, useFetchFolder, WHOLE } from "../../testing/jobs/fetched-source.ts";
import { closeServers, serve } from "../../testing/range-server.ts";
import { type DiskShare, type FreeSpace, SourceDisk } from "./source-disk.ts";

useFetchFolder();
afterEach(closeServers);

const diskOf = (freeSpace: FreeSpace): DiskShare => new SourceDisk(freeSpace).open(folder);
const MIB = 2 ** 20;

it("blames the node when its disk cannot be written", async () => {
  const { origin } = await serve(sendClip);
  for (const destination of [join(folder, "no", "such"), "/dev/full"]) {
    await expect(fetchTo(origin, { destination, disk: diskOf(async () => 1e12) })).rejects.toMatchObject({
      code: "node_failed",
      message: expect.stringMatching(/^The node cannot write the input to its disk \(E[A-Z]+\)\.$/),
    });
  }
});

it("gets the bytes of a connection that breaks before the disk is ready", async () => {
  let broken: Promise<unknown> = Promise.resolve();
  const { origin } = await serve((request, response) => {
    broken = once(response, "close");
    sendClip(request, response, { dropAfter: 60_000 });
  });
  // Each connection sends less than undici waits for, so that its end arrives with its bytes.
  const freeSpace = () => broken.then(() => sleep(20)).then(() => 1e12);
  expect(await fetchTo(origin, { disk: diskOf(freeSpace) })).toEqual(WHOLE);
});

describe("a disk with too little space for", () => {
  const TOO_SMALL = { code: "node_busy", message: expect.stringContaining("too little disk space for the input") };
  const storedBytes = (): number => statSync(join(folder, "input")).size;

  it("a whole source stays empty: nothing is written, and there is no retry", async () => {
    const { origin, seen } = await serve(sendClip);
    await expect(fetchTo(origin, { disk: diskOf(async () => CLIP.length - 1) })).rejects.toMatchObject(TOO_SMALL);
    expect([seen.length, storedBytes()]).toEqual([1, 0]);
    expect(await fetchTo(origin, { disk: diskOf(async () => CLIP.length) })).toEqual(WHOLE);
  });

  it("a whole source is large enough when the first part is on it already", async () => {
    const { origin } = await serve((request, response) => sendClip(request, response, { dropAfter: 2_000_000 }));
    // On a shared machine, some bytes that were sent before the connection broke are lost.
    const spaces = [CLIP.length, CLIP.length - 1_000_000];
    expect(await fetchTo(origin, { disk: diskOf(async () => spaces.shift() ?? 0) })).toEqual(WHOLE);
    expect(spaces).toEqual([]);
  });

  it.each([
    ["announced", { "content-length": String(64 * MIB) }],
    ["unannounced", {}],
  ])("the rest of a source ends the fetch, because other processes write too: %s", async (_, headers) => {
    const { origin, seen } = await serve((_request, response) => {
      response.writeHead(200, headers).end(Buffer.alloc(64 * MIB));
    });
    const spaces = [64 * MIB, 49 * MIB, -1];
    await expect(
      fetchTo(origin, { maxBytes: 100 * MIB, disk: diskOf(async () => spaces.shift() ?? -1) }),
    ).rejects.toMatchObject(TOO_SMALL);
    expect(seen.length).toBe(1);
    expect(storedBytes()).toBeGreaterThan(31 * MIB);
    expect(storedBytes()).toBeLessThan(33 * MIB);
  });
});

describe("a disk that several sources share", () => {
  const BUSY = { code: "node_busy" };

  it("reserves the declared size of a source until it is written or removed", async () => {
    let free = 100;
    const disk = new SourceDisk(async () => free);
    const [first, second, late] = [disk.open(folder), disk.open(folder), disk.open(folder)];
    await first.reserve(70);
    await expect(second.reserve(40)).rejects.toMatchObject(BUSY);
    await second.reserve(30);
    await expect(late.reserve(1)).rejects.toMatchObject(BUSY);
    // Bytes that are written need no reservation.
    free = 50;
    await first.reserve(20);
    await late.reserve(0);
    first.endReservation();
    await late.reserve(20);
    second.close();
    await late.reserve(50);
  });

  it("states the missing space when no other source uses the disk that is too small", async () => {
    const disk = new SourceDisk(async () => 12_300_000);
    await expect(disk.open(folder).reserve(5e9)).rejects.toMatchObject({
      code: "node_busy",
      message: "The node has too little disk space for the input: it needs 5000 MB, and 13 MB are free",
    });
  });

  it("accepts only the first of two concurrent sources that do not fit together", async () => {
    const disk = new SourceDisk(async () => 100);
    const fits = await Promise.allSettled([disk.open(folder).reserve(60), disk.open(folder).reserve(60)]);
    expect(fits.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  });

  it("rejects a source before a byte is written, and accepts it when there is space", async () => {
    const { origin } = await serve(sendClip);
    const disk = new SourceDisk(async () => CLIP.length + 10);
    const other = disk.open(folder);
    await other.reserve(11);
    await expect(fetchTo(origin, { disk: disk.open(folder) })).rejects.toMatchObject(BUSY);
    expect(statSync(join(folder, "input")).size).toBe(0);
    other.close();
    expect(await fetchTo(origin, { disk: disk.open(folder) })).toEqual(WHOLE);
  });
});
