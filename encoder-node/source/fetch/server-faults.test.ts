// The faults of servers, and what they mean for a source: the same for a fetch of all of it and for reads of ranges.
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { folder, QUICK, useFetchFolder } from "../../testing/jobs/fetched-source.ts";
import { closeServers, noise, sendRange, serve } from "../../testing/range-server.ts";
import { SourceFile, type SourceFileOptions } from "./source-file.ts";

useFetchFolder();
afterEach(closeServers);

const CLIP = noise(400_000);
const never = new AbortController().signal;

type Way = (file: SourceFile, signal: AbortSignal) => Promise<unknown>;
type Changes = Partial<SourceFileOptions> & { readonly signal?: AbortSignal };

/** A fetch of a source of unknown size, and reads of ranges of a source whose size is known. */
const WAYS: readonly (readonly [string, Way, number | null])[] = [
  ["all of a source", (file, signal) => file.whole(signal), null],
  ["ranges of a source", (file, signal) => file.load({ start: 0, end: CLIP.length - 1 }, signal), CLIP.length],
];

/** The file of the running test. */
let file: SourceFile;

/** The bytes that arrive, or the error. */
async function result(url: string, way: Way, sizeBytes: number | null, { signal = never, ...changes }: Changes) {
  const pieces = [{ url, sizeBytes }];
  const path = join(folder, "faults");
  file = await SourceFile.open({ path, pieces, allow: "loopback", maxBytes: 1e7, timeouts: QUICK, ...changes });
  // Bytes that are in use cannot be replaced by another version.
  file.hold();
  try {
    await way(file, signal);
    const bytes = Buffer.alloc(CLIP.length);
    const reader = file.reader();
    for (let at = 0, length = 1; length > 0; at += length) length = await reader.read(bytes.subarray(at), at);
    return { same: bytes.equals(CLIP), sizeBytes: file.sizeBytes };
  } catch (error) {
    return error;
  } finally {
    await file.close();
  }
}
const ALL = { same: true, sizeBytes: CLIP.length };
const failed = (code: string, message = "") =>
  expect.objectContaining({ code, message: expect.stringContaining(message) });

/** `requests`: the number of requests before this one. */
type Answer = (request: IncomingMessage, response: ServerResponse, requests: number) => unknown;
type Fault = readonly [name: string, answer: Answer, expected: unknown, requests?: number | null, changes?: Changes];

const started = (from: number, headers = {}) => {
  const range = `bytes ${from}-${CLIP.length - 1}/${CLIP.length}`;
  return [206, { etag: '"v1"', "content-range": range, ...headers }] as const;
};
const firstOf = ({ headers }: IncomingMessage): number => Number(/\d+/.exec(headers.range ?? "")?.[0] ?? 0);
const sendFrom = (request: IncomingMessage, response: ServerResponse, headers = {}): ServerResponse => {
  const from = firstOf(request);
  const length = { "content-length": CLIP.length - from };
  return request.headers.range
    ? response.writeHead(...started(from, { ...length, ...headers }))
    : response.writeHead(200, { etag: '"v1"', "accept-ranges": "bytes", ...length, ...headers });
};

/** Breaks the connection when the start of the file has arrived. */
function sendStart(request: IncomingMessage, response: ServerResponse): void {
  sendFrom(request, response).write(CLIP.subarray(0, 1000));
  const timer = setInterval(() => {
    if (file.transfer.received > 0) response.destroy();
  }, 5);
  response.once("close", () => clearInterval(timer));
}

const send =
  (options = {}): Answer =>
  (request, response) =>
    sendRange(CLIP, request, response, options);
const status =
  (code: number, headers = {}): Answer =>
  (_, response) =>
    response.writeHead(code, headers).end();
/** Sends the start of the file, and then answers otherwise. */
const startThen =
  (answer: Answer): Answer =>
  (request, response, requests) =>
    requests === 0 ? sendStart(request, response) : answer(request, response, requests);
const closed = failed("input_unreachable", "closed the connection early");
const changed = failed("input_unreachable", "changed the file while it was read");
const timed = (message: string) => failed("input_timeout", message);
const within = (timeouts: object): Changes => ({ timeouts: { ...QUICK, ...timeouts } });

const V2 = { etag: '"v2"' };
const GZIP = { "content-encoding": "gzip" };
const PRIVATE = { location: "http://10.0.0.1/clip" };
const FORBIDDEN = failed("input_address_not_allowed");
const EXPIRED = failed("input_unreachable", "then responded with HTTP 403; if the URL is signed, let it expire later");
const FAULTS: readonly Fault[] = [
  ["none", send(), ALL, 1],
  ["breaks every connection after 70 kB", send({ dropAfter: 70_000 }), ALL],
  ["breaks its first connection, and refuses the others", startThen((_, response) => response.destroy()), closed, 6],
  ["breaks every connection after 1 kB", send({ dropAfter: 1000 }), closed, 6],
  [
    "trickles",
    (request, response) => {
      sendFrom(request, response);
      const timer = setInterval(() => response.write("x"), 20);
      response.on("close", () => clearInterval(timer));
    },
    timed("use a faster host"),
    null,
    within({ minimumRate: { bytes: 1000, windowMs: 100 } }),
  ],
  [
    "sends headers and nothing else",
    (request, response) => sendFrom(request, response).flushHeaders(),
    timed("did not respond or stopped sending"),
    6,
    within({ stallMs: 100 }),
  ],
  ["never answers", () => undefined, timed(""), 2, within({ stallMs: 100 })],
  [
    "is too slow for the time limit",
    (request, response) => {
      const timer = setInterval(() => response.write("x"), 20);
      sendFrom(request, response).on("close", () => clearInterval(timer));
    },
    timed("did not send the whole file within"),
    1,
    within({ limitMs: 200 }),
  ],
  ["answers with 503 once", (...all) => (all[2] === 0 ? status(503)(...all) : send()(...all)), ALL, 2],
  ["answers with 429 for good", status(429), failed("input_http_429"), 6],
  ["answers with 404", status(404), failed("input_http_404"), 1],
  ["answers with 403 after a part of the file", startThen(status(403)), EXPIRED, 2],
  ["has another version after a part of the file, and supports If-Range", startThen(send(V2)), changed, 2],
  [
    "has another version after a part of the file, and does not support If-Range",
    (request, ...others) => {
      delete request.headers["if-range"];
      return startThen(send(V2))(request, ...others);
    },
    changed,
    2,
  ],
  [
    "sends another range than requested",
    startThen((_, response) => response.writeHead(...started(7)).end(CLIP.subarray(7))),
    changed,
    2,
  ],
  [
    "sends less than it declares",
    (request, response) => {
      sendFrom(request, response).write(CLIP.subarray(0, 500));
      setTimeout(() => request.socket.destroy(), 20);
    },
    closed,
    6,
  ],
  [
    "sends more than it declares",
    (request) => {
      const from = firstOf(request);
      const range = `Content-Range: bytes ${from}-${CLIP.length - 1}/${CLIP.length}\r\n`;
      const head = request.headers.range ? `206 Partial Content\r\n${range}` : "200 OK\r\n";
      const length = CLIP.length - from;
      request.socket.write(`HTTP/1.1 ${head}ETag: "v1"\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n`);
      request.socket.end(Buffer.concat([CLIP.subarray(from), Buffer.alloc(1000)]));
    },
    ALL,
  ],
  [
    "declares a compression that nobody asked for",
    (request, response) => sendFrom(request, response, GZIP).end(CLIP.subarray(firstOf(request))),
    ALL,
    1,
  ],
  ["redirects to a private address after a part of the file", startThen(status(302, PRIVATE)), FORBIDDEN, 2],
  ["is larger than the node's maximum", send(), failed("input_too_large"), 1, { maxBytes: 300_000 }],
];

describe.each(WAYS)("%s", (_, way, sizeBytes) => {
  it.each(FAULTS.map(([name, ...fault]) => ({ name, fault })))(
    "have one result when the server's fault is: $name",
    async ({ fault: [answer, expected, requests, changes = {}] }) => {
      const server = await serve((request, response) => void answer(request, response, server.seen.length - 1));
      expect(await result(server.origin, way, sizeBytes, changes)).toEqual(expected);
      if (typeof requests === "number") expect(server.seen.length).toBe(requests);
    },
  );

  it("have no request to addresses that are not allowed", async () => {
    const { origin, seen } = await serve((request, response) => sendRange(CLIP, request, response));
    expect(await result(origin, way, sizeBytes, { allow: "none" })).toEqual(FORBIDDEN);
    expect(seen).toEqual([]);
  });

  it("end at once with the reason of an abort", async () => {
    const { origin } = await serve((request, response) => void sendFrom(request, response).write("x"));
    const controller = new AbortController();
    const reason = new Error("superseded");
    setTimeout(() => controller.abort(reason), 50);
    expect(await result(origin, way, sizeBytes, { signal: controller.signal })).toBe(reason);
  });

  describe("whose URL expires", () => {
    const at = (url: string) => [{ url, sizeBytes }];
    it.each(["before the first request", "after a part of the file"])("go on with a new URL: %s", async (when) => {
      let isExpired = when.startsWith("before");
      const server = await serve((request, response) => {
        if (request.url === "/1" && isExpired) return void response.writeHead(403).end();
        isExpired = true;
        sendRange(CLIP, request, response, request.url === "/1" ? { dropAfter: 100_000 } : {});
      });
      const refresh = async () => at(`${server.origin}/2`);
      expect(await result(`${server.origin}/1`, way, sizeBytes, { refresh })).toEqual(ALL);
    });

    it("fail when the new URL does not work either, or there is no other", async () => {
      const { origin, seen } = await serve((_request, response) => void response.writeHead(403).end());
      for (const [next, requested] of [
        ["/2", ["/1", "/2"]],
        ["/1", ["/1"]],
      ] as const) {
        seen.length = 0;
        const refresh = async () => at(`${origin}${next}`);
        expect(await result(`${origin}/1`, way, sizeBytes, { refresh })).toMatchObject({ code: "input_http_403" });
        expect(seen.map(({ url }) => url)).toEqual(requested);
      }
    });

    it("do not wait for new URLs after an abort", async () => {
      const { origin } = await serve((_request, response) => void response.writeHead(403).end());
      const controller = new AbortController();
      const reason = new Error("superseded");
      const refresh = (): Promise<never> => {
        controller.abort(reason);
        return new Promise(() => {});
      };
      expect(await result(origin, way, sizeBytes, { refresh, signal: controller.signal })).toBe(reason);
    });
  });
});
