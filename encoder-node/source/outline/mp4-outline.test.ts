import { expect, it } from "vitest";
import { firstSamples } from "./mp4-outline.ts";

function box(type: string, ...parts: readonly Uint8Array[]): Buffer {
  const header = Buffer.alloc(8, type.padStart(8), "latin1");
  header.writeUInt32BE(8 + parts.reduce((sum, { length }) => sum + length, 0));
  return Buffer.concat([header, ...parts]);
}
const words = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, 4 * at);
  return bytes;
};

const movieHeader = box("mvhd", words(0, 0, 0, 1000));
/** A track of `count` samples of 10 bytes in a chunk from byte 100 on; the handler is neither video nor audio. */
const track = (count: number): Buffer =>
  box(
    "trak",
    box(
      "mdia",
      box("mdhd", words(0, 0, 0, 1000)),
      box("hdlr", words(0, 0), Buffer.from("text")),
      box(
        "minf",
        box(
          "stbl",
          box("stts", words(0, 1, count, 40)),
          box("stsz", words(0, 10, count)),
          box("stsc", words(0, 1, 1, count, 1)),
          box("stsd", words(0, 0)),
          box("stco", words(0, 1, 100)),
        ),
      ),
    ),
  );
const tracks = (count: number, samples: number): Buffer =>
  Buffer.concat([movieHeader, ...Array.from({ length: count }, () => track(samples))]);

it.each<[string, Buffer, ReturnType<typeof firstSamples>]>([
  ["one track", tracks(1, 20), [{ start: 100, end: 299 }]],
  ["billions of declared samples", tracks(1, 0xffffffff), null],
  ["far more tracks than sources have", tracks(1000, 0xffffffff), null],
])("the first samples of a header with %s", (_what, moov, ranges) => {
  expect(firstSamples(moov)).toEqual(ranges);
});

it("rejects a header of nothing but empty boxes", () => {
  const boxes = Buffer.concat([movieHeader, ...Array.from({ length: 5000 }, () => box("free"))]);
  expect(() => firstSamples(boxes)).toThrow("more than 4096 boxes");
});
