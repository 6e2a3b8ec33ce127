import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it, test } from "vitest";
import { closeServers, noise, sendRange, serve } from "../../testing/range-server.ts";
import { describeSource } from "./describe-source.ts";
import { HttpRangeReader, type RangeSource } from "./range-reader.ts";
import { rangesByPiece } from "./source-pieces.ts";

const CLIP = noise(300_000);
const QUICK = { stallMs: 30_000, backoff: { firstMs: 5, maxMs: 5 } };
const never = new AbortController().signal;
afterEach(closeServers);

type ReadOptions = Partial<RangeSource> & {
  readonly start?: number;
  readonly end?: number;
  readonly signal?: AbortSignal;
};

/** Reads a range of the source at this URL, by default the whole clip. */
async function readFrom(url: string, { start = 0, end = CLIP.length - 1, signal = never, ...more }: ReadOptions = {}) {
  const reader = new HttpRangeReader({
    pieces: [{ url, sizeBytes: CLIP.length }],
    allow: "loopback",
    timeouts: QUICK,
    ...more,
  });
  const got = Buffer.alloc(reader.sizeBytes);
  let bytes = 0;
  try {
    const take = async (piece: Buffer, position: number): Promise<void> => {
      bytes += piece.length;
      piece.copy(got, position);
    };
    await reader.read({ start, end }, take, signal);
    return { same: got.subarray(start, end + 1).equals(CLIP.subarray(start, end + 1)), bytes };
  } finally {
    await reader.close();
  }
}
const WHOLE = { same: true, bytes: CLIP.length };

test("splits a range of a source into ranges of its pieces", () => {
  const pieces = [10, 5, 20].map((sizeBytes) => ({ sizeBytes }));
  expect(rangesByPiece(pieces, { start: 8, end: 16 })).toEqual([
    { piece: 0, start: 8, end: 9, position: 8 },
    { piece: 1, start: 0, end: 4, position: 10 },
    { piece: 2, start: 0, end: 1, position: 15 },
  ]);
  expect(rangesByPiece(pieces, { start: 10, end: 14 })).toEqual([{ piece: 1, start: 0, end: 4, position: 10 }]);
});

describe("a well-behaved server", () => {
  it("sends a request for the range, and nothing else", async () => {
    const { origin, seen } = await serve((request, response) => sendRange(CLIP, request, response));
    expect(await readFrom(`${origin}/clip?x=1`, { start: 1000, end: 1999 })).toEqual({ same: true, bytes: 1000 });
    expect(seen.map(({ url, headers }) => [url, headers.range, headers["if-range"]])).toEqual([
      ["/clip?x=1", "bytes=1000-1999", undefined],
    ]);
  });

  it("reads a source that is stored in pieces", async () => {
    const boundaries = [0, 100_000, 100_001, CLIP.length];
    const pieceOf = (at: number) => CLIP.subarray(boundaries[at], boundaries[at + 1]);
    const { origin } = await serve((request, response) =>
      sendRange(pieceOf(Number(request.url?.slice(1))), request, response),
    );
    const pieces = [0, 1, 2].map((at) => ({ url: `${origin}/${at}`, sizeBytes: pieceOf(at).length }));
    expect(await readFrom("", { pieces })).toEqual(WHOLE);
    expect(await readFrom("", { pieces, start: 99_990, end: 100_010 })).toEqual({ same: true, bytes: 21 });
  });
});

describe("a server that drops connections", () => {
  it("requests the rest of the same version after a dropped connection", async () => {
    const { origin, seen } = await serve((request, response) =>
      sendRange(CLIP, request, response, { dropAfter: 70_000 }),
    );
    expect(await readFrom(origin)).toEqual(WHOLE);
    expect(seen.length).toBeGreaterThanOrEqual(5);
    for (const { headers } of seen.slice(1)) expect(headers["if-range"]).toBe('"v1"');
  });

  it("fails after five retries without progress", async () => {
    const { origin, seen } = await serve((request, response) => {
      if (request.headers["if-range"]) response.destroy();
      else sendRange(CLIP, request, response, { dropAfter: 1000 });
    });
    await expect(readFrom(origin)).rejects.toMatchObject({
      code: "input_unreachable",
      message: expect.stringMatching(/^The host `127\.0\.0\.1:\d+` of the input closed the connection early/),
    });
    expect(seen.length).toBe(6);
  });

  it("fails when the server is too slow", async () => {
    const { origin, seen } = await serve((request, response) => {
      const [from = 0] = (/\d+/.exec(request.headers.range ?? "") ?? []).map(Number);
      const range = `bytes ${from}-${CLIP.length - 1}/${CLIP.length}`;
      response.writeHead(206, { etag: '"v1"', "content-range": range, "content-length": CLIP.length - from });
      let at = from;
      const timer = setInterval(() => response.write(CLIP.subarray(at, ++at)), 20);
      response.on("close", () => clearInterval(timer));
    });
    const timeouts = { ...QUICK, minimumRate: { bytes: 1000, windowMs: 200 } };
    await expect(readFrom(origin, { timeouts })).rejects.toMatchObject({ code: "input_timeout" });
    expect(seen.length).toBe(6);
  });

  it("fails when the server sends nothing", async () => {
    const { origin } = await serve(() => undefined);
    await expect(readFrom(origin, { timeouts: { ...QUICK, stallMs: 200 } })).rejects.toMatchObject({
      code: "input_timeout",
    });
  });
});

describe("a host that allows a single connection", () => {
  it.each<[string, (response: ServerResponse) => unknown]>([
    ["responds with 429 to others", (response) => response.writeHead(429, { "retry-after": "60" }).end()],
    ["closes others", (response) => response.destroy()],
  ])("%s, and serves them one after the other", async (_what, refuse) => {
    let open = 0;
    const { origin } = await serve((request, response) => {
      if (open > 0) return void refuse(response);
      open += 1;
      response.once("finish", () => {
        open -= 1;
      });
      setTimeout(() => sendRange(CLIP, request, response), 20);
    });
    const { got, reads } = await readSixParts(origin);
    expect(reads.map(({ status }) => status)).toEqual(Array(6).fill("fulfilled"));
    expect(got.equals(CLIP)).toBe(true);
  });
});

it("fails all reads after some retries when the host breaks every connection", async () => {
  let requests = 0;
  const { origin } = await serve((request, response) => {
    if (requests++ < 6) sendRange(CLIP, request, response, { dropAfter: 1000 });
    else response.destroy();
  });
  const { reads } = await readSixParts(origin);
  const failure = { status: "rejected", reason: expect.objectContaining({ code: "input_unreachable" }) };
  expect(reads).toEqual(Array(6).fill(failure));
  expect(requests).toBeLessThanOrEqual(6 * 6 + 6);
});

/** Reads the clip at this URL in six parts at the same time. */
async function readSixParts(url: string) {
  const pieces = [{ url, sizeBytes: CLIP.length }];
  const reader = new HttpRangeReader({ pieces, allow: "loopback", timeouts: QUICK });
  const got = Buffer.alloc(CLIP.length);
  const part = CLIP.length / 6;
  const take = async (bytes: Buffer, position: number): Promise<void> => void bytes.copy(got, position);
  const parts = [0, 1, 2, 3, 4, 5].map((at) => ({ start: at * part, end: (at + 1) * part - 1 }));
  const reads = await Promise.allSettled(parts.map((range) => reader.read(range, take, never)));
  await reader.close();
  return { got, reads };
}

describe("another version than the first fails at once", () => {
  it.each<[string, string | null, boolean]>([
    ["from a server that supports If-Range", null, true],
    ["from a server that does not", null, false],
    ["when the version is known from before", '"v1"', true],
  ])("%s", async (_, validator, heeds) => {
    let responses = validator === null ? 0 : 1;
    const { origin, seen } = await serve((request, response) => {
      if (responses++ === 0) return sendRange(CLIP, request, response, { dropAfter: 1000 });
      if (!heeds) delete request.headers["if-range"];
      sendRange(CLIP, request, response, { etag: '"v2"' });
    });
    const pieces = [{ url: origin, sizeBytes: CLIP.length, validator }];
    await expect(readFrom("", { pieces })).rejects.toMatchObject({
      code: "input_unreachable",
      message: expect.stringContaining("changed the file while it was read"),
    });
    expect(seen.length).toBe(validator === null ? 2 : 1);
  });

  it("fails at once when the file has another size", async () => {
    const { origin } = await serve((request, response) => sendRange(CLIP.subarray(1), request, response));
    await expect(readFrom(origin, { end: 10 })).rejects.toMatchObject({ message: expect.stringContaining("changed") });
  });
});

describe("URLs that have expired", () => {
  const signedServer = (valid: (signature: string) => boolean) =>
    serve((request, response) => {
      if (valid(request.url ?? "")) sendRange(CLIP, request, response);
      else response.writeHead(403).end();
    });
  const pieceAt = (url: string) => [{ url, sizeBytes: CLIP.length }];

  it("renews expired URLs once for all concurrent reads", async () => {
    let now = "/2";
    const { origin, seen } = await signedServer((signature) => signature === now);
    let refreshes = 0;
    const refresh = async () => {
      refreshes += 1;
      return pieceAt(`${origin}${now}`);
    };
    const reader = new HttpRangeReader({ pieces: pieceAt(`${origin}/1`), refresh, allow: "loopback", timeouts: QUICK });
    const readAll = () =>
      Promise.all([0, 1, 2].map((at) => reader.read({ start: at, end: at + 10 }, async () => undefined, never)));
    await readAll();
    expect([refreshes, seen.length]).toEqual([1, 6]);
    now = "/3";
    await readAll();
    expect([refreshes, seen.length]).toEqual([2, 12]);
    await reader.close();
  });

  it("fails when the renewed URLs do not work either", async () => {
    const { origin, seen } = await signedServer(() => false);
    const refresh = async () => pieceAt(`${origin}/2`);
    await expect(readFrom(`${origin}/1`, { refresh })).rejects.toMatchObject({ code: "input_http_403" });
    expect(seen.map(({ url }) => url)).toEqual(["/1", "/2"]);
    await expect(readFrom(`${origin}/1`)).rejects.toMatchObject({ code: "input_http_403" });
  });

  it("rejects renewed URLs that lead to another file", async () => {
    const { origin } = await signedServer((signature) => signature === "/2");
    const refresh = async () => [{ url: `${origin}/2`, sizeBytes: 1 }];
    await expect(readFrom(`${origin}/1`, { refresh })).rejects.toMatchObject({ code: "input_unreachable" });
  });

  it("does not wait for renewed URLs after an abort", async () => {
    const { origin } = await serve((_, response) => void response.writeHead(403).end());
    const controller = new AbortController();
    const reason = new Error("superseded");
    const refresh = (): Promise<never> => {
      controller.abort(reason);
      return new Promise(() => {});
    };
    await expect(readFrom(origin, { refresh, signal: controller.signal })).rejects.toBe(reason);
  });
});

it("reaches allowed addresses only", async () => {
  const { origin, seen } = await serve((request, response) => sendRange(CLIP, request, response));
  await expect(readFrom(origin, { allow: "none" })).rejects.toMatchObject({ code: "input_address_not_allowed" });
  expect(seen).toEqual([]);
});

it("rejects with the reason of an abort", async () => {
  const { origin } = await serve((_, response) => void response.writeHead(206));
  const reason = new Error("superseded");
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 50);
  await expect(readFrom(origin, { signal: controller.signal })).rejects.toBe(reason);
});

describe("the description of a file", () => {
  const describeAt = (url: string) => describeSource({ url, allow: "loopback", stallMs: 5_000, signal: never });

  it("describes a file by its size and its version", async () => {
    const { origin } = await serve((request, response) => sendRange(CLIP, request, response));
    expect(await describeAt(origin)).toEqual({ url: origin, sizeBytes: CLIP.length, validator: '"v1"' });
  });

  it.each<[string, Parameters<typeof serve>[0]]>([
    ["the server supports no ranges", (_, response) => void response.writeHead(200, { etag: '"v1"' }).end(CLIP)],
    [
      "the server identifies no version",
      (_, response) => void response.writeHead(206, { "content-range": `bytes 0-0/${CLIP.length}` }).end("x"),
    ],
    [
      "the server sends no size",
      (_, response) => void response.writeHead(206, { etag: '"v1"', "content-range": "bytes 0-0/*" }).end("x"),
    ],
    ["the file is empty", (_, response) => void response.writeHead(416, { "content-range": "bytes */0" }).end()],
  ])("is null when %s", async (_, answer) => {
    expect(await describeAt((await serve(answer)).origin)).toBeNull();
  });

  it("fails for an HTTP error", async () => {
    const { origin } = await serve((_, response) => void response.writeHead(404).end());
    await expect(describeAt(origin)).rejects.toMatchObject({ code: "input_http_404" });
  });
});
