import type { IncomingMessage } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { FILM, fetchTo, QUICK, removeFetched, sendFilm, VERSION, WHOLE } from "../../testing/fetched-source.ts";
import { closeServers, serve } from "../../testing/range-server.ts";
import { noPart } from "./fetch-source.ts";

afterEach(closeServers);
afterAll(removeFetched);

describe("a server of HTTP/1.0, which says no length and ends by closing", () => {
  const ofOldAge = async (bytes: Buffer, ends: "closes" | "breaks") => {
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

  it.each(["closes", "breaks"] as const)("is read to its end, anew when it %s", async (ends) => {
    const { server, origin } = await ofOldAge(FILM, ends);
    expect(await fetchTo(origin)).toEqual(WHOLE);
    server.close();
  });
});

describe("a body in chunks", () => {
  it("is whole when it says so, whatever becomes of connections that did their work", async () => {
    const idle = new Set<IncomingMessage["socket"]>();
    const end = await serve((_, response) => {
      response.write(FILM.subarray(0, 1000));
      setTimeout(() => {
        for (const socket of idle) socket.resetAndDestroy();
      }, 20);
      setTimeout(() => response.end(FILM.subarray(1000)), 100);
    });
    const start = await serve((request, response) => {
      idle.add(request.socket);
      response.writeHead(302, { location: end.origin, "content-length": 0 }).end();
    });
    expect(await fetchTo(start.origin)).toEqual(WHOLE);
    expect([idle.size, end.seen.length]).toEqual([1, 1]);
  });

  it("is fetched anew when its connection breaks, also where that was to be its last", async () => {
    let breaks = 1;
    const { origin, seen } = await serve((request, response) => {
      response.writeHead(200, { connection: "close" });
      if (breaks-- <= 0) return void response.end(FILM);
      response.write(FILM.subarray(0, 100_000), () => setTimeout(() => request.socket.resetAndDestroy(), 20));
    });
    expect(await fetchTo(origin)).toEqual(WHOLE);
    expect(seen.length).toBe(2);
  });
});

describe("a server that sends in drops", () => {
  /** 2 KB each 20 ms, from where it is asked on. */
  const drip = (most: number) =>
    serve((request, response) => {
      const from = Number(/\d+/.exec(request.headers.range ?? "")?.[0] ?? 0);
      const film = FILM.subarray(0, most);
      const range = from > 0 ? { "content-range": `bytes ${from}-${most - 1}/${most}` } : {};
      response.writeHead(from > 0 ? 206 : 200, { ...VERSION, ...range, "content-length": most - from });
      let at = from;
      const timer = setInterval(() => {
        response.write(film.subarray(at, at + 2000));
        at += 2000;
        if (at >= most) response.end();
      }, 20);
      response.on("close", () => clearInterval(timer)).on("error", () => undefined);
    });
  const within = (bytes: number) => ({ ...QUICK, least: { bytes, windowMs: 200 } });

  it("is given up after five further tries, whatever they brought", async () => {
    const { origin, seen } = await drip(FILM.length);
    await expect(fetchTo(origin, { patience: within(1_000_000) })).rejects.toMatchObject({
      code: "input_timeout",
      message: expect.stringMatching(/sends less than 976.5625 KiB in 0.2 s; use a faster one/),
    });
    expect(seen.length).toBe(6);
  });

  it("is read to the end while it brings enough, or is nearly there", async () => {
    for (const least of [1000, 1_000_000]) {
      const { origin } = await drip(50_000);
      expect(await fetchTo(origin, { patience: within(least) })).toMatchObject({ sizeBytes: 50_000 });
    }
  });

  it("has so much time for all of it, and no more", async () => {
    const { origin, seen } = await drip(FILM.length);
    await expect(fetchTo(origin, { patience: { ...QUICK, limitMs: 300 } })).rejects.toMatchObject({
      code: "input_timeout",
      message: expect.stringContaining("has not sent all of it within"),
    });
    expect(seen.length).toBe(1);
  });
});

describe("a server that refuses", () => {
  it.each([
    ["429", { "retry-after": "1" }],
    ["503", { "retry-after": new Date(Date.now() + 1000).toUTCString() }],
  ])("a busy server's %s is heeded: it is asked when it said", async (status, headers) => {
    const asked: number[] = [];
    const { origin } = await serve((request, response) => {
      asked.push(performance.now());
      if (asked.length <= 2) response.writeHead(Number(status), headers).end();
      else sendFilm(request, response);
    });
    expect(await fetchTo(origin)).toEqual(WHOLE);
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThan(status === "429" ? 990 : 0);
    expect(asked.length).toBe(3);
  });

  it("a server that only ever answers 500 is asked six times", async () => {
    const { origin, seen } = await serve((_, response) => void response.writeHead(500).end());
    await expect(fetchTo(origin)).rejects.toMatchObject({ code: "input_http_500" });
    expect(seen.length).toBe(6);
  });

  it.each([
    ["a server that does ranges", VERSION],
    ["one that names no version", {}],
  ])("after a part say that the URL is dead, for another attempt to have a new one: %s", async (_, headers) => {
    const { origin, seen } = await serve((request, response) => {
      if (seen.length > 1) response.writeHead(403).end();
      else sendFilm(request, response, { headers, dropAfter: 1_500_000 });
    });
    await expect(fetchTo(origin)).rejects.toMatchObject({
      code: "input_unreachable",
      message: expect.stringContaining("then refused (HTTP 403)"),
    });
    expect(seen.length).toBe(2);
  });

  it("a passing 503 is tried again", async () => {
    let refusals = 1;
    const { origin } = await serve((request, response) => {
      if (refusals-- > 0) response.writeHead(503).end();
      else sendFilm(request, response);
    });
    expect(await fetchTo(origin)).toEqual(WHOLE);
  });
});

it("gives up on a server that falls silent", async () => {
  const { origin, seen } = await serve((_, response) => void response.writeHead(200, VERSION).write("x"));
  const patience = { ...QUICK, stallMs: 300 };
  await expect(fetchTo(origin, { patience })).rejects.toMatchObject({ code: "input_timeout" });
  expect(seen.length).toBe(6);
});

describe("a source that comes slowly for long", () => {
  const SLOW = { ...QUICK, slow: { bytesPerSecond: 1e9, windowMs: 5, budgetMs: 20 } };
  /** Half of the film at once, the rest in drops. */
  const dripping = (headers: Record<string, string>) =>
    serve((request, response) => {
      if (request.headers.range) return sendFilm(request, response, { headers });
      response.writeHead(200, { ...headers, "content-length": FILM.length });
      response.write(FILM.subarray(0, FILM.length / 2));
      let at = FILM.length / 2;
      const drip = setInterval(() => {
        response.write(FILM.subarray(at, at + 10));
        at += 10;
      }, 5);
      response.on("close", () => clearInterval(drip));
    });

  it("says so when it can go on later, and does, with what has come", async () => {
    const { origin, seen } = await dripping({ ...VERSION, "accept-ranges": "bytes" });
    const part = noPart();
    const stop = new AbortController();
    const slow = { patience: SLOW, part, onSlow: () => stop.abort("others wait") };
    await expect(fetchTo(origin, { ...slow, signal: stop.signal })).rejects.toBe("others wait");
    expect(part.received).toBeGreaterThanOrEqual(FILM.length / 2);
    const { received, spentMs } = part;
    expect(spentMs).toBeGreaterThan(20);
    expect(await fetchTo(origin, { part })).toEqual(WHOLE);
    expect(seen.map(({ headers }) => headers.range)).toEqual([undefined, `bytes=${received}-`]);
  });

  it.each<[string, Record<string, string>]>([
    ["names no versions", { "accept-ranges": "bytes" }],
    ["does no ranges", VERSION],
    ["names versions that may differ", { etag: 'W/"v1"', "accept-ranges": "bytes" }],
  ])("goes on without a word when its host %s", async (_, headers) => {
    const { origin } = await dripping(headers);
    const onSlow = vi.fn();
    const signal = AbortSignal.timeout(300);
    await expect(fetchTo(origin, { patience: SLOW, onSlow, signal })).rejects.toThrow(/timeout/);
    expect(onSlow).not.toHaveBeenCalled();
  });

  it("has no more time for being fetched in parts", async () => {
    const { origin } = await dripping({ ...VERSION, "accept-ranges": "bytes" });
    const part = { ...noPart(), spentMs: 1000 };
    await expect(fetchTo(origin, { part, patience: { ...QUICK, limitMs: 1000 } })).rejects.toMatchObject({
      code: "input_timeout",
    });
  });
});
