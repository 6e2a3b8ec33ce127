// A header that would make a node read far more than the outline of a file needs.
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseRange } from "#shared/network/http-headers.ts";
import { serve } from "../../testing/range-server.ts";
import { workshopOfFile } from "../../testing/workshop-of-file.ts";
import { SourceFile } from "../fetch/source-file.ts";
import { fetchOutline } from "./fetch-outline.ts";

const words = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, 4 * at);
  return bytes;
};
const box = (type: string, ...bodies: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(bodies);
  return Buffer.concat([words(8 + body.length), Buffer.from(type), body]);
};

const MOVIE = box("mvhd", words(0, 0, 0, 1000));
/** A track of data: a sample of 100 bytes in each chunk. */
const trackAt = (places: readonly number[]): Buffer => {
  const tables = [
    box("stsd", words(0, 0)),
    box("stts", words(0, 1, places.length, 1)),
    box("stsz", words(0, 100, places.length)),
    box("stsc", words(0, 1, 1, 1, 1)),
    box("stco", words(0, places.length, ...places)),
  ];
  const media = [box("mdhd", words(0, 0, 0, 1000)), box("hdlr", words(0, 0), Buffer.from("meta"))];
  return box("trak", box("mdia", ...media, box("minf", box("stbl", ...tables))));
};

const workshop = workshopOfFile();

it("reads no samples with gigabytes of gaps between them", async () => {
  const places = Array.from({ length: 4000 }, (_, at) => 1_000_000 + at * 256 * 1024);
  const sizeBytes = 3e9;
  const header = Buffer.concat([box("ftyp"), box("moov", MOVIE, trackAt(places))]);
  const { origin, sent } = await serve((request, response) => {
    const range = parseRange(request.headers.range, sizeBytes);
    if (range === null || range === "beyond") return void response.writeHead(400).end();
    const body = Buffer.alloc(range.end + 1 - range.start);
    header.copy(body, 0, Math.min(range.start, header.length));
    // A skipped box up to the end of the file follows.
    Buffer.concat([words(1), Buffer.from("mdat"), words(0, sizeBytes - header.length)]).copy(
      body,
      Math.max(0, header.length - range.start),
    );
    response.writeHead(206, {
      "content-range": `bytes ${range.start}-${range.end}/${sizeBytes}`,
      "content-length": body.length,
      etag: '"v1"',
    });
    response.end(body);
  });
  const path = join(workshop.folder, "outline");
  const signal = new AbortController().signal;
  const pieces = [{ url: `${origin}/a.mp4`, sizeBytes: null }];
  const file = await SourceFile.open({ path, pieces, allow: "loopback", maxBytes: 1e11 });
  const outline = await fetchOutline(file, { maxBytes: 1e11, signal });
  await file.close();
  expect(outline).toBeNull();
  expect(sent()).toBeLessThan(1_000_000);
});
