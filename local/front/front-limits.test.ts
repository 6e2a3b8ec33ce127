import { once } from "node:events";
import { request as ask, type IncomingMessage, type RequestListener } from "node:http";
import { expect, it, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { ClientShares } from "./client-shares.ts";
import { connectTo, frontOf } from "./testing/front.ts";

const BEHIND_PROXY = { trustedProxies: ["127.0.0.1"] };
const LARGE = Buffer.alloc(8_000_000, "x");

/** A service with health, a large file, event streams, and requests that end when the test decides. */
function service() {
  const seen: string[] = [];
  const streams = new Set<unknown>();
  const held: (() => void)[] = [];
  const listener: RequestListener = (request, response) => {
    const path = request.url ?? "";
    seen.push(path);
    if (path === "/large") return response.end(LARGE);
    if (path === "/held") return held.push(() => response.end("done"));
    if (path !== "/events") return response.end("ok");
    streams.add(response);
    response.once("close", () => streams.delete(response));
    return response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" }).write(": ping\n\n");
  };
  return { listener, seen, streams, held };
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

/** Requests a path as the client with this address. The body of an event stream stays open. */
async function requestAs(port: number, address: string, path: string): Promise<IncomingMessage> {
  const sent = ask({ port, host: "127.0.0.1", path, agent: false, headers: { "x-forwarded-for": address } });
  sent.on("error", () => {});
  sent.end();
  return ((await once(sent, "response")) as [IncomingMessage])[0];
}
const statusAs = async (port: number, address: string, path: string): Promise<number | undefined> => {
  const response = await requestAs(port, address, path);
  response.resume();
  return response.statusCode;
};

it("serves other connections while a connection pipelines requests and reads no response", async () => {
  const { listener, seen } = service();
  const { port } = await frontOf(listener, { requests: { total: 4, perClient: 4 } });
  const attacker = connectTo(port).pause();
  attacker.write(get("/large").repeat(20));
  await vi.waitFor(() => expect(seen).toEqual(["/large"]));
  expect(await statusAs(port, "203.0.113.7", "/v2/health")).toBe(200);
  expect(seen).toEqual(["/large", "/v2/health"]);
});

it("responds to pipelined requests one after another, and closes a connection with too many", async () => {
  const { listener, seen, held } = service();
  const { port } = await frontOf(listener);
  const socket = connectTo(port);
  socket.write(get("/held") + get("/b") + get("/c").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
  await vi.waitFor(() => expect(held.length).toBe(1));
  // Another connection gets its response first, so that the test would notice a request that did not wait.
  expect(await statusAs(port, "203.0.113.7", "/v2/health")).toBe(200);
  expect(seen).toEqual(["/held", "/v2/health"]);
  held[0]?.();
  const received = Buffer.concat(await socket.toArray()).toString();
  expect(received.match(/HTTP\/1\.1 \d+|done|ok/g)).toEqual(
    [200, 200, 200].flatMap((status, at) => [`HTTP/1.1 ${status}`, at === 0 ? "done" : "ok"]),
  );
  expect(seen.slice(2)).toEqual(["/b", "/c"]);
  const flood = connectTo(port);
  flood.write(get("/held").repeat(100));
  await once(flood, "close");
});

it("ends a response whose client reads nothing for a while", async () => {
  const { listener, streams } = service();
  const { port } = await frontOf(
    (request, response) => {
      listener(request, response);
      if (request.url !== "/events") return;
      const timer = setInterval(() => response.write(LARGE), 10);
      response.once("close", () => clearInterval(timer));
    },
    { stallMs: 100 },
  );
  connectTo(port).pause().write(get("/events"));
  await vi.waitFor(() => expect(streams.size).toBe(1));
  await vi.waitFor(() => expect(streams.size).toBe(0));
});

it("waits for a slow response of the Worker for longer than a client may read nothing", async () => {
  const { listener, held } = service();
  const { port } = await frontOf(listener, { stallMs: 50 });
  const response = requestAs(port, "203.0.113.7", "/held");
  await vi.waitFor(() => expect(held.length).toBe(1));
  setTimeout(() => held[0]?.(), 300);
  expect((await response).statusCode).toBe(200);
});

it("keeps a silent WebSocket for longer than a client may read nothing", async () => {
  const { port, origin, backend } = await frontOf(() => {}, { stallMs: 50 });
  new WebSocketServer({ server: backend }).on("connection", (socket) => socket.on("message", () => socket.send("hi")));
  const socket = new WebSocket(origin.replace("http", "ws"));
  await once(socket, "open");
  // A connection without a request ends in the meantime.
  await once(connectTo(port).resume(), "close");
  socket.send("hello");
  expect(String((await once(socket, "message"))[0])).toBe("hi");
  socket.terminate();
});

const post = (path: string, length: number, method = "POST"): string =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;

it("gives no place to a request before its small body has arrived", async () => {
  const { listener, seen } = service();
  const { port } = await frontOf(listener, { requests: { total: 4, perClient: 2 } });
  const slow = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"].flatMap((address) =>
    [1, 2].map(() => connectTo(port, address)),
  );
  for (const socket of slow) socket.write(`${post("/slow", 4000)}{`);
  await Promise.all(slow.map((socket) => (socket.connecting ? once(socket, "connect") : null)));
  expect(await statusAs(port, "203.0.113.7", "/v2/health")).toBe(200);
  expect(seen).toEqual(["/v2/health"]);
  slow[0]?.write("x".repeat(3999));
  await vi.waitFor(() => expect(seen).toEqual(["/v2/health", "/slow"]));
});

it("ends requests whose bodies come too slowly, except uploads that the service reads", async () => {
  const { seen, listener } = service();
  const { port } = await frontOf(
    (request, response) => (request.method === "GET" ? listener(request, response) : void seen.push(request.url ?? "")),
    { requests: { total: 2, perClient: 2 }, bodyRate: { graceMs: 500, bytesPerS: 400_000 } },
  );
  const [small, large, upload] = [connectTo(port), connectTo(port, "127.0.0.2"), connectTo(port, "127.0.0.3")];
  upload.write(post("/upload", 200_000, "PUT") + "x".repeat(150_000));
  large.write(post("/large", 200_000) + "x".repeat(150_000));
  await vi.waitFor(() => expect(seen.toSorted()).toEqual(["/large", "/upload"]));
  small.write(`${post("/small", 4000)}x`);
  for (const socket of [small, large]) {
    expect(Buffer.concat(await socket.toArray()).toString()).toMatch(/^HTTP\/1\.1 408 .*too slowly/s);
  }
  expect(await statusAs(port, "203.0.113.7", "/v2/health")).toBe(200);
  expect(upload.closed).toBe(false);
});

it("delays only the requests of a client that exceeds its share", async () => {
  const { listener, seen, held } = service();
  const { port } = await frontOf(listener, { ...BEHIND_PROXY, requests: { total: 4, perClient: 2 } });
  const statuses = Array.from({ length: 5 }, () => statusAs(port, "2001:db8::1", "/held"));
  await vi.waitFor(() => expect(held.length).toBe(2));
  // Another address of the same /64 network waits, too.
  const same = statusAs(port, "2001:db8::2", "/held");
  expect(await statusAs(port, "203.0.113.7", "/v2/health")).toBe(200);
  expect(seen).toEqual(["/held", "/held", "/v2/health"]);
  for (let at = 0; at < 6; at++) {
    await vi.waitFor(() => expect(held.length).toBeGreaterThan(0));
    held.shift()?.();
  }
  expect(await Promise.all([...statuses, same])).toEqual([200, 200, 200, 200, 200, 200]);
});

it("counts event streams apart from requests, and gives each client a share of them", async () => {
  const { listener, streams } = service();
  const limits = { requests: { total: 2, perClient: 2 }, streams: { total: 5, perClient: 4 } };
  const { port } = await frontOf(listener, { ...BEHIND_PROXY, ...limits });
  const open = await Promise.all(Array.from({ length: 4 }, () => requestAs(port, "203.0.113.7", "/events")));
  expect(open.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
  expect(await statusAs(port, "203.0.113.7", "/v2/health")).toBe(200);
  const refused = await requestAs(port, "203.0.113.7", "/events");
  expect(refused.statusCode).toBe(429);
  expect(JSON.parse(Buffer.concat(await refused.toArray()).toString())).toMatchObject({ error_code: "rate_limited" });
  const other = await requestAs(port, "198.51.100.1", "/events");
  expect(other.statusCode).toBe(200);
  for (const response of [...open, other]) response.destroy();
  await vi.waitFor(() => expect(streams.size).toBe(0));
  const again = await requestAs(port, "203.0.113.7", "/events");
  expect(again.statusCode).toBe(200);
  again.destroy();
});

it("admits waiting clients in turn, and none beyond its share", async () => {
  const shares = new ClientShares({ total: 3, perClient: 2 });
  const { signal } = new AbortController();
  for (const client of ["a", "a", "b"]) expect(shares.tryEnter(client)).toBe(true);
  const admitted: string[] = [];
  for (const client of ["a", "a", "c", "b"]) void shares.enter(client, signal).then(() => admitted.push(client));
  // From here on, the order of the promises is that of the admissions.
  await new Promise(setImmediate);
  for (const client of ["b", "a", "c"]) shares.leave(client);
  await new Promise(setImmediate);
  expect(admitted).toEqual(["c", "a", "b"]);
});
