import { statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { FILM, fetchTo, folder, removeFetched, sendFilm, WHOLE } from "../../testing/fetched-source.ts";
import { closeServers, serve } from "../../testing/range-server.ts";
import { type Room, SourceDisk } from "./source-disk.ts";

afterEach(closeServers);
afterAll(removeFetched);

const ENDLESS: Room = async () => Number.POSITIVE_INFINITY;
const MIB = 2 ** 20;

it("blames the node when its disk cannot be written", async () => {
  const { origin } = await serve(sendFilm);
  for (const destination of [join(folder, "no", "such"), "/dev/full"]) {
    await expect(fetchTo(origin, { destination, room: ENDLESS })).rejects.toMatchObject({
      code: "node_failed",
      message: expect.stringMatching(/^The node cannot write the input to its disk \(E[A-Z]+\)\.$/),
    });
  }
});

describe("a disk without room for", () => {
  const NO_ROOM = { code: "node_failed", message: expect.stringContaining("no room for the input") };
  const kept = (): number => statSync(join(folder, "input")).size;

  it("all of a source is left as it is: nothing is written, and nobody is asked again", async () => {
    const { origin, seen } = await serve(sendFilm);
    await expect(fetchTo(origin, { room: async () => FILM.length - 1 })).rejects.toMatchObject(NO_ROOM);
    expect([seen.length, kept()]).toEqual([1, 0]);
    expect(await fetchTo(origin, { room: async () => FILM.length })).toEqual(WHOLE);
  });

  it("what is left of a source is enough for it when the first part is there already", async () => {
    const { origin } = await serve((request, response) => sendFilm(request, response, { dropAfter: 2_000_000 }));
    // A busy machine loses some of what was sent before the connection broke.
    const rooms = [FILM.length, FILM.length - 1_000_000];
    expect(await fetchTo(origin, { room: async () => rooms.shift() ?? 0 })).toEqual(WHOLE);
    expect(rooms).toEqual([]);
  });

  it.each([
    ["announced", { "content-length": String(64 * MIB) }],
    ["unannounced", {}],
  ])("the rest of a source ends the fetch, because others write as well: %s", async (_, headers) => {
    const { origin, seen } = await serve((_request, response) => {
      response.writeHead(200, headers).end(Buffer.alloc(64 * MIB));
    });
    const rooms = [64 * MIB, 49 * MIB, -1];
    await expect(fetchTo(origin, { maxBytes: 100 * MIB, room: async () => rooms.shift() ?? -1 })).rejects.toMatchObject(
      NO_ROOM,
    );
    expect(seen.length).toBe(1);
    expect(kept()).toBeGreaterThan(31 * MIB);
    expect(kept()).toBeLessThan(33 * MIB);
  });
});

describe("a disk that several sources are on", () => {
  const BUSY = { code: "node_busy" };

  it("keeps for one what was announced of it, until that has come or is gone", async () => {
    let free = 100;
    const disk = new SourceDisk(async () => free);
    const [one, other, late] = [disk.open(folder), disk.open(folder), disk.open(folder)];
    await one.need(70);
    await expect(other.need(40)).rejects.toMatchObject(BUSY);
    await other.need(30);
    await expect(late.need(1)).rejects.toMatchObject(BUSY);
    // What has come is on the disk, and no longer to come.
    free = 50;
    await one.need(20);
    await late.need(0);
    one.settle();
    await late.need(20);
    other.close();
    await late.need(50);
  });

  it("is too small for what has no room when there is nothing else on it", async () => {
    const disk = new SourceDisk(async () => 100);
    const one = disk.open(folder);
    await expect(one.need(101)).rejects.toMatchObject({ code: "node_failed" });
    const other = disk.open(folder);
    await expect(one.need(101)).rejects.toMatchObject(BUSY);
    other.close();
    await expect(one.need(101)).rejects.toMatchObject({ code: "node_failed" });
  });

  it("gives one of two that come at once all of its room", async () => {
    const disk = new SourceDisk(async () => 100);
    const fits = await Promise.allSettled([disk.open(folder).need(60), disk.open(folder).need(60)]);
    expect(fits.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  });

  it("turns a source away before a byte of it is written, and lets it in when there is room", async () => {
    const { origin } = await serve(sendFilm);
    const disk = new SourceDisk(async () => FILM.length + 10);
    const other = disk.open(folder);
    await other.need(11);
    await expect(fetchTo(origin, { disk: disk.open(folder) })).rejects.toMatchObject(BUSY);
    expect(statSync(join(folder, "input")).size).toBe(0);
    other.close();
    expect(await fetchTo(origin, { disk: disk.open(folder) })).toEqual(WHOLE);
  });
});
