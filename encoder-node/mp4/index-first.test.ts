// MP4 files with the index at the end, read as if the index came first.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { bodyAt, boxesIn } from "./boxes.ts";
import { boxOf, movedIndex, readIndexFirst } from "./index-first.ts";

const folder = fileFolder();

const FTYP = boxOf("ftyp", Buffer.from("isom\0\0\0\0isomiso2"));
const SAMPLES = boxOf("mdat", Buffer.from("samples of the file"));

function table(type: "stco" | "co64", offsets: readonly number[]): Buffer {
  const body = Buffer.alloc(8 + offsets.length * (type === "stco" ? 4 : 8));
  body.writeUInt32BE(offsets.length, 4);
  for (const [at, offset] of offsets.entries()) {
    if (type === "stco") body.writeUInt32BE(offset, 8 + at * 4);
    else body.writeBigUInt64BE(BigInt(offset), 8 + at * 8);
  }
  return boxOf(type, body);
}
const trackOf = (offsets: Buffer): Buffer =>
  ["stbl", "minf", "mdia", "trak"].reduce<Buffer>(
    (body, type) => boxOf(type, body),
    Buffer.concat([boxOf("stsd", Buffer.alloc(9)), offsets]),
  );
const indexOf = (...tables: Buffer[]): Buffer =>
  boxOf(
    "moov",
    Buffer.concat([boxOf("mvhd", Buffer.alloc(100)), ...tables.map(trackOf), boxOf("udta", Buffer.from([1, 2, 3]))]),
  );

/** The offsets in the first table of each track. */
function offsetsIn(moov: Buffer): string[] {
  return boxesIn(bodyAt(moov, "moov")).flatMap(({ type, body }): string[] => {
    const table =
      type === "trak" ? boxesIn(bodyAt(body, "mdia/minf/stbl")).find((box) => /^(stco|co64)$/.test(box.type)) : null;
    if (!table) return [];
    const count = table.body.readUInt32BE(4);
    const read = (at: number): number =>
      table.type === "stco" ? table.body.readUInt32BE(8 + at * 4) : Number(table.body.readBigUInt64BE(8 + at * 8));
    return [[table.type, ...Array.from({ length: count }, (_, at) => read(at))].join(" ")];
  });
}

describe("an index", () => {
  const BEYOND = indexOf(table("stco", [48, 2 ** 32 - 100]), table("stco", [2 ** 32 - 101]));
  it.each<[string, Buffer, string[]]>([
    ["of one track", indexOf(table("stco", [48, 1000])), ["stco 148 1100"]],
    ["of video and audio", indexOf(table("stco", [48]), table("stco", [60])), ["stco 148", "stco 160"]],
    ["of a large file", indexOf(table("co64", [48, 2 ** 40])), [`co64 148 ${2 ** 40 + 100}`]],
    ["without samples", indexOf(table("stco", [])), ["stco"]],
    ["whose samples move beyond 4 GiB", BEYOND, [`co64 148 ${2 ** 32}`, `stco ${2 ** 32 - 1}`]],
  ])("moves all offsets of an index: %s", (_, moov, expected) => {
    const moved = movedIndex(moov, () => 100);
    expect(offsetsIn(moved)).toEqual(expected);
    expect(boxesIn(bodyAt(moved, "moov")).at(-1)).toEqual({ type: "udta", body: Buffer.from([1, 2, 3]) });
  });

  it("moves the offsets of an index by its own new size", () => {
    const moov = indexOf(table("stco", [2 ** 32 - 100]));
    const moved = movedIndex(moov, (sizeBytes) => sizeBytes);
    expect(moved.length).toBe(moov.length + 4);
    expect(offsetsIn(moved)).toEqual([`co64 ${2 ** 32 - 100 + moov.length + 4}`]);
  });

  it.each<[string, Buffer]>([
    ["another box", SAMPLES],
    ["a table that ends early", indexOf(boxOf("stco", Buffer.from([0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 1])))],
    ["an offset that is no number", indexOf(boxOf("co64", Buffer.from(`${"00".repeat(7)}01${"ff".repeat(8)}`, "hex")))],
    ["a child beyond its end", boxOf("moov", Buffer.from([0, 0, 1, 0, 116, 114, 97, 107]))],
  ])("rejects an index: %s", (_, moov) => expect(() => movedIndex(moov, () => 1)).toThrow());
});

describe("a file", () => {
  const moov = indexOf(table("stco", [FTYP.length + 8 + 8]));
  const write = async (...boxes: Buffer[]): Promise<string> => {
    const path = join(folder, "a.mp4");
    await writeFile(path, Buffer.concat(boxes));
    return path;
  };
  const EMPTY = boxOf("free", Buffer.alloc(0));

  it.each<[string, number, number]>([
    ["gets room for its index alone", 0, moov.length],
    ["keeps what its index leaves free", moov.length + 100, moov.length + 100],
    ["has the least free box", moov.length + 8, moov.length + 8],
    ["grows where a box cannot be free", moov.length + 7, moov.length + 8],
    ["grows where its index fits exactly", moov.length, moov.length + 8],
    ["grows where its index is larger", moov.length - 1, moov.length + 8],
  ])("reads a file with the index first: %s", async (_, reservedBytes, shift) => {
    const path = await write(FTYP, EMPTY, SAMPLES, moov);
    const file = await readIndexFirst(path, reservedBytes);
    expect([file.shift, file.from, file.to]).toEqual([shift, FTYP.length, FTYP.length + 8 + SAMPLES.length]);
    expect(file.head.length).toBe(FTYP.length + shift);
    const boxes = boxesIn(file.head).map(({ type }) => type);
    expect(boxes).toEqual(shift === moov.length ? ["ftyp", "moov"] : ["ftyp", "moov", "free"]);
    const offsets = offsetsIn(file.head.subarray(FTYP.length, FTYP.length + moov.length));
    expect(offsets).toEqual([`stco ${FTYP.length + 16 + shift}`]);
  });

  it("uses the same shift where a larger shift makes the index larger", async () => {
    const size = indexOf(table("stco", [0])).length;
    const at = 2 ** 32 - size - 12;
    const path = await write(FTYP, SAMPLES, indexOf(table("stco", [at])));
    for (let reservedBytes = size - 16; reservedBytes < size + 16; reservedBytes++) {
      const { head, shift } = await readIndexFirst(path, reservedBytes);
      const [, moved, free] = boxesIn(head);
      const offsets = offsetsIn(boxOf("moov", moved?.body ?? FTYP))[0];
      expect([free?.type, offsets?.slice(5)]).toEqual(["free", String(at + shift)]);
    }
  });

  it.each<[string, Buffer[]]>([
    ["its index in front", [FTYP, moov, SAMPLES]],
    ["no samples", [FTYP, moov]],
    ["no index", [FTYP, SAMPLES]],
    ["an end within a box", [FTYP, SAMPLES, moov.subarray(0, 50)]],
    ["samples whose size is not known yet", [FTYP, Buffer.from("\0\0\0\0mdatabc", "latin1"), moov]],
    ["a hundred boxes", [FTYP, ...new Array<Buffer>(100).fill(EMPTY), SAMPLES, moov]],
    ["nothing", []],
  ])("rejects a file with %s", async (_, boxes) => {
    const path = await write(...boxes);
    await expect(readIndexFirst(path, 0)).rejects.toThrow(/^MP4/);
  });
});
