import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  CLIP,
  fetchTo,
  folder,
  QUICK,
  sendClip,
  useFetchFolder,
  VERSION,
  WHOLE,
} from "../../testing/jobs/fetched-source.ts";
import { closeServers, serve } from "../../testing/range-server.ts";
import { SourceFile } from "./source-file.ts";

useFetchFolder();
afterEach(closeServers);

describe("an HTTP/1.0 server, which sends no length and closes the connection", () => {
  const oldServer = async (bytes: Buffer, ends: "closes" | "breaks") => {
    let breaks = ends === "breaks" ? 1 : 0;
    const server = createSocketServer((socket) => {
      socket
        .on("error", () => undefined)
        .once("data", () => {
          socket.write("HTTP/1.0 200 OK\r\nContent-Type: video/mp4\r\n\r\n");
          if (breaks-- > 0)
            socket.write(bytes.subarray(0, 100_000), () => setTimeout(() => socket.resetAndDestroy(), 20));
          else socket.end(bytes);
        });
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  };

  it.each(["closes", "breaks"] as const)("is read to its end, again if it %s", async (ends) => {
    const { server, origin } = await oldServer(CLIP, ends);
    expect(await fetchTo(origin)).toEqual(WHOLE);
    server.close();
  });
});

describe("a body in chunks", () => {
  it("accepts a chunked body that ends as declared, whatever happens to idle connections", async () => {
    const idle = new Set<IncomingMessage["socket"]>();
    const end = await serve((_, response) => {
      response.write(CLIP.subarray(0, 1000));
      setTimeout(() => {
        for (const socket of idle) socket.resetAndDestroy();
      }, 20);
      setTimeout(() => response.end(CLIP.subarray(1000)), 100);
    });
    const start = await serve((request, response) => {
      idle.add(request.socket);
      response.writeHead(302, { location: end.origin, "content-length": 0 }).end();
    });
    expect(await fetchTo(start.origin)).toEqual(WHOLE);
    expect([idle.size, end.seen.length]).toEqual([1, 1]);
  });

  it("fetches a chunked body again when its connection breaks, also with `Connection: close`", async () => {
    let breaks = 1;
    const { origin, seen } = await serve((request, response) => {
      response.writeHead(200, { connection: "close" });
      if (breaks-- <= 0) return void response.end(CLIP);
      response.write(CLIP.subarray(0, 100_000), () => setTimeout(() => request.socket.resetAndDestroy(), 20));
    });
    expect(await fetchTo(origin)).toEqual(WHOLE);
    expect(seen.length).toBe(2);
  });
});

describe("a slow server", () => {
  /** Sends 2 KB every 20 ms from the requested byte. */
  const drip = (most: number) =>
    serve((request, response) => {
      const from = Number(/\d+/.exec(request.headers.range ?? "")?.[0] ?? 0);
      const clip = CLIP.subarray(0, most);
      const range = from > 0 ? { "content-range": `bytes ${from}-${most - 1}/${most}` } : {};
      response.writeHead(from > 0 ? 206 : 200, { ...VERSION, ...range, "content-length": most - from });
      let at = from;
      const timer = setInterval(() => {
        response.write(clip.subarray(at, at + 2000));
        at += 2000;
        if (at >= most) response.end();
      }, 20);
      response.on("close", () => clearInterval(timer)).on("error", () => undefined);
    });
  const within = (bytes: number) => ({ ...QUICK, minimumRate: { bytes, windowMs: 200 } });

  it("fails after five retries of a slow transfer, whatever they sent", async () => {
    const { origin, seen } = await drip(CLIP.length);
    await expect(fetchTo(origin, { timeouts: within(1_000_000) })).rejects.toMatchObject({
      code: "input_timeout",
      message: expect.stringMatching(/sends less than 976.5625 KiB in 0.2 s; use a faster host/),
    });
    // Without the question whether the host supports ranges.
    expect(seen.filter(({ headers }) => headers.range !== "bytes=0-0").length).toBe(6);
  });

  it("reads a slow source to the end at the minimum rate, or near the end", async () => {
    for (const bytes of [1000, 1_000_000]) {
      const { origin } = await drip(50_000);
      expect(await fetchTo(origin, { timeouts: within(bytes) })).toMatchObject({ sizeBytes: 50_000 });
    }
  });
});

describe("a server that responds with errors", () => {
  it.each([
    ["429", { "retry-after": "1" }],
    ["503", { "retry-after": new Date(Date.now() + 1000).toUTCString() }],
  ])("with %s and Retry-After is retried after that delay", async (status, headers) => {
    const requestedAt: number[] = [];
    const { origin } = await serve((request, response) => {
      requestedAt.push(performance.now());
      if (requestedAt.length <= 2) response.writeHead(Number(status), headers).end();
      else sendClip(request, response);
    });
    expect(await fetchTo(origin)).toEqual(WHOLE);
    expect((requestedAt[1] ?? 0) - (requestedAt[0] ?? 0)).toBeGreaterThan(status === "429" ? 990 : 0);
    expect(requestedAt.length).toBe(3);
  });

  it.each([
    ["a server that supports ranges", VERSION],
    ["one that identifies no version", {}],
  ])("after a part of the file make the task fail, so that another attempt has a new URL: %s", async (_, headers) => {
    const { origin, seen } = await serve((request, response) => {
      if (seen.length > 1) response.writeHead(403).end();
      else sendClip(request, response, { headers, dropAfter: 1_500_000 });
    });
    await expect(fetchTo(origin)).rejects.toMatchObject({
      code: "input_unreachable",
      message: expect.stringContaining("then responded with HTTP 403"),
    });
    expect(seen.length).toBe(2);
  });
});

it("resumes a stopped transfer, and counts the time of all its parts", async () => {
  const { origin, seen } = await serve((request, response) => {
    if (request.headers.range) return sendClip(request, response, { headers: VERSION });
    response.writeHead(200, { ...VERSION, "accept-ranges": "bytes", "content-length": CLIP.length });
    return void response.write(CLIP.subarray(0, CLIP.length / 2));
  });
  const pieces = [{ url: origin, sizeBytes: null }];
  const path = join(folder, "input");
  const file = await SourceFile.open({ path, pieces, allow: "loopback", maxBytes: 1e9, timeouts: QUICK });
  const stop = new AbortController();
  const onBytes = (received: number): void => {
    if (received >= CLIP.length / 2) stop.abort("others wait");
  };
  await expect(file.whole(stop.signal, onBytes)).rejects.toBe("others wait");
  const { received, elapsedMs } = file.transfer;
  expect(elapsedMs).toBeGreaterThan(0);
  expect(await file.whole(new AbortController().signal)).toBe(CLIP.length);
  await file.close();
  expect(file.transfer.elapsedMs).toBeGreaterThan(elapsedMs);
  expect(CLIP.equals(await readFile(path))).toBe(true);
  expect(seen.map(({ headers }) => headers.range)).toEqual([undefined, `bytes=${received}-`]);
});
