import type { IncomingMessage } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { CLIP, fetchTo, QUICK, sendClip, useFetchFolder, VERSION, WHOLE } from "../../testing/jobs/fetched-source.ts";
import { closeServers, serve } from "../../testing/range-server.ts";
import { newResumeState } from "./fetch-options.ts";

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
    expect(seen.length).toBe(6);
  });

  it("reads a slow source to the end at the minimum rate, or near the end", async () => {
    for (const bytes of [1000, 1_000_000]) {
      const { origin } = await drip(50_000);
      expect(await fetchTo(origin, { timeouts: within(bytes) })).toMatchObject({ sizeBytes: 50_000 });
    }
  });

  it("fails after the time limit of the whole file", async () => {
    const { origin, seen } = await drip(CLIP.length);
    await expect(fetchTo(origin, { timeouts: { ...QUICK, limitMs: 300 } })).rejects.toMatchObject({
      code: "input_timeout",
      message: expect.stringContaining("did not send the whole file within"),
    });
    expect(seen.length).toBe(1);
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

  it("sends six requests to a server that responds with 500", async () => {
    const { origin, seen } = await serve((_, response) => void response.writeHead(500).end());
    await expect(fetchTo(origin)).rejects.toMatchObject({ code: "input_http_500" });
    expect(seen.length).toBe(6);
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

  it("retries after a temporary 503", async () => {
    let errors = 1;
    const { origin } = await serve((request, response) => {
      if (errors-- > 0) response.writeHead(503).end();
      else sendClip(request, response);
    });
    expect(await fetchTo(origin)).toEqual(WHOLE);
  });
});

it("fails when a server sends nothing", async () => {
  const { origin, seen } = await serve((_, response) => void response.writeHead(200, VERSION).write("x"));
  const timeouts = { ...QUICK, stallMs: 300 };
  await expect(fetchTo(origin, { timeouts })).rejects.toMatchObject({ code: "input_timeout" });
  expect(seen.length).toBe(6);
});

it("resumes a stopped transfer within the time limit of the whole file", async () => {
  const { origin, seen } = await serve((request, response) => {
    if (request.headers.range) return sendClip(request, response, { headers: VERSION });
    response.writeHead(200, { ...VERSION, "accept-ranges": "bytes", "content-length": CLIP.length });
    return void response.write(CLIP.subarray(0, CLIP.length / 2));
  });
  const resume = newResumeState();
  const stop = new AbortController();
  const onProgress = (received: number): void => {
    if (received >= CLIP.length / 2) stop.abort("others wait");
  };
  await expect(fetchTo(origin, { resume, onProgress, signal: stop.signal })).rejects.toBe("others wait");
  const { received, spentMs } = resume;
  expect(spentMs).toBeGreaterThan(0);
  const late = { resume: { ...resume, spentMs: 1000 }, timeouts: { ...QUICK, limitMs: 1000 } };
  await expect(fetchTo(origin, late)).rejects.toMatchObject({ code: "input_timeout" });
  expect(await fetchTo(origin, { resume })).toEqual(WHOLE);
  expect(seen.map(({ headers }) => headers.range)).toEqual([undefined, ...Array(2).fill(`bytes=${received}-`)]);
});
