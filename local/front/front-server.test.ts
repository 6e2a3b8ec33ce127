import { once } from "node:events";
import { request as ask, type IncomingMessage, type RequestListener } from "node:http";
import { connect } from "node:net";
import { expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import * as z from "zod";
import { frontOf } from "./testing/front.ts";

/** Sends `text` on a new connection. Returns all data that arrives until the connection is closed. */
async function exchange(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  socket.on("data", (data) => {
    received += data;
  });
  socket.write(text);
  await once(socket, "close");
  return received;
}

const echo: RequestListener = async (request, response) => {
  const bytes = Buffer.concat(await request.toArray());
  response.setHeader("x-path", request.url ?? "");
  response.end(JSON.stringify({ headers: request.headers, size: bytes.length, method: request.method }));
};

it("forwards requests with the client's real address, and bodies of any size", async () => {
  const { origin } = await frontOf(echo);
  const headers = { "cf-connecting-ip": "9.9.9.9", "mf-original-url": "http://x/v2/admin" };
  const body = Buffer.alloc(5_000_000, 1);
  const answer = await fetch(`${origin}/a%2Fb?c=d`, { method: "PUT", headers, body });
  const seen = (await answer.json()) as { headers: Record<string, string>; size: number };
  expect([answer.headers.get("x-path"), seen.size]).toEqual(["/a%2Fb?c=d", 5_000_000]);
  expect(seen.headers).toMatchObject({ "cf-connecting-ip": "127.0.0.1", "copra-front": "s", host: origin.slice(7) });
  expect(seen.headers).not.toHaveProperty("mf-original-url");
});

it("rejects requests without a User-Agent as Cloudflare's Browser Integrity Check does", async () => {
  const { port } = await frontOf(echo, { isEdge: true });
  const socket = "Connection: upgrade\r\nUpgrade: websocket\r\n";
  for (const more of ["", socket]) {
    const answer = await exchange(port, `GET / HTTP/1.1\r\nHost: a\r\n${more}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\nserver: cloudflare\r\ncontent-type: text\/html.*Error 1010/s);
  }
  const named = "GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: copra/1\r\nConnection: close\r\n\r\n";
  expect(await exchange(port, named)).toMatch(/^HTTP\/1\.1 200 /);
});

it("takes the client's address only from a trusted proxy's header", async () => {
  const headers = { "x-forwarded-for": "9.9.9.9, 203.0.113.7" };
  const { origin } = await frontOf(echo);
  const seen = async (url: string) =>
    z.looseObject({ headers: z.record(z.string(), z.unknown()) }).parse(await (await fetch(url, { headers })).json())
      .headers["cf-connecting-ip"];
  expect(await seen(origin)).toBe("127.0.0.1");
  const proxied = await frontOf(echo, { trustedProxies: ["127.0.0.0/8"] });
  expect(await seen(proxied.origin)).toBe("203.0.113.7");
});

const POST = "POST / HTTP/1.1\r\nHost: a\r\n";
it.each<[string, string, number]>([
  [
    "two lengths of a body by two headers",
    `${POST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /b HTTP/1.1\r\n\r\n`,
    400,
  ],
  ["two lengths", `${POST}Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd`, 400],
  ["two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400],
  ["no host", "GET / HTTP/1.1\r\n\r\n", 400],
  ["CONNECT", "CONNECT 10.0.0.1:80 HTTP/1.1\r\nHost: a\r\n\r\n", 405],
  ["a URL for a path", "GET http://b/v2/admin HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["another upgrade", "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n", 400],
  ["headers without end", `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431],
  ["no HTTP", "\x16\x03\x01\x02\r\n\r\n", 400],
])("responds once to %s and closes the connection", async (_, text, status) => {
  const seen: (string | undefined)[] = [];
  const { port } = await frontOf((request, response) => {
    seen.push(request.url);
    response.end();
  });
  const received = await exchange(port, text);
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`]);
  expect(seen).toEqual([]);
});

it("sends an early response at once and does not wait for the rest of the body", async () => {
  const { port } = await frontOf((_, response) => response.writeHead(401, { "content-length": 2 }).end("no"));
  const received = await exchange(port, `${POST}Content-Length: 1000000\r\n\r\n${"x".repeat(100_000)}`);
  expect(received).toMatch(/^HTTP\/1\.1 401 .*\r\n\r\nno$/s);
  // The next connection works.
  expect(await exchange(port, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")).toMatch(/^HTTP\/1\.1 401 /);
});

it("sends 100 Continue to a client that waits for it", async () => {
  const { port } = await frontOf(echo);
  const headers = { expect: "100-continue", "content-length": 3 };
  const sent = ask({ port, host: "127.0.0.1", method: "POST", headers });
  sent.flushHeaders();
  await once(sent, "continue");
  sent.end("abc");
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  expect(JSON.parse(Buffer.concat(await answer.toArray()).toString()).size).toBe(3);
});

it("forwards streams as they arrive, and closes them when the client leaves", async () => {
  const closed = Promise.withResolvers<void>();
  const { origin } = await frontOf((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
    response.once("close", closed.resolve);
  });
  const abort = new AbortController();
  const answer = await fetch(origin, { signal: abort.signal });
  const first = await answer.body?.getReader().read();
  expect(new TextDecoder().decode(first?.value)).toBe("data: 1\n\n");
  abort.abort();
  await closed.promise;
});

it("forwards WebSockets, and responses that decline them", async () => {
  const { origin, backend } = await frontOf((_, response) => response.writeHead(401, { "x-why": "key" }).end("no"));
  const refused = new WebSocket(origin.replace("http", "ws"));
  const [, answer] = (await once(refused, "unexpected-response")) as [unknown, IncomingMessage];
  expect([answer.statusCode, answer.headers["x-why"]]).toEqual([401, "key"]);
  answer.resume();
  const hub = new WebSocketServer({ server: backend });
  hub.on("connection", (socket, request) =>
    socket.on("message", (data) => socket.send(`${data} ${request.headers["copra-front"]}`)),
  );
  const socket = new WebSocket(`${origin.replace("http", "ws")}/v2/nodes/connect`);
  await once(socket, "open");
  socket.send("hello");
  const [echoed] = await once(socket, "message");
  expect(String(echoed)).toBe("hello s");
  const closed = once(socket, "close");
  for (const client of hub.clients) client.close(1008, "revoked");
  expect((await closed)[0]).toBe(1008);
});

it("responds 503 as the API does while the Worker is not running", async () => {
  const { origin, logged } = await frontOf(null);
  const answer = await fetch(`${origin}/v2/jobs`);
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "2"]);
  expect(await answer.json()).toMatchObject({ error_code: "service_unavailable", status: "error" });
  expect(logged.map((line) => JSON.parse(line).cause)).toEqual(["ECONNREFUSED"]);
});

/** Ends connections without a response: all connections, or only connections that already had a request. */
const breaking = (isBroken: (requestsBefore: number) => boolean, seen: string[]): RequestListener => {
  const counts = new WeakMap<object, number>();
  return (request, response) => {
    const before = counts.get(request.socket) ?? 0;
    counts.set(request.socket, before + 1);
    seen.push(`${request.method} ${request.url}`);
    if (isBroken(before)) request.socket.destroy();
    else request.resume().once("end", () => response.end("ok"));
  };
};

it.each<[string, string, string | null, number, string[]]>([
  ["repeats a GET", "GET", null, 200, ["GET", "GET"]],
  ["repeats a DELETE", "DELETE", null, 200, ["DELETE", "DELETE"]],
  ["repeats a small PUT", "PUT", "{}", 200, ["PUT", "PUT"]],
  ["sends a small POST once", "POST", "{}", 500, ["POST"]],
  ["sends a large POST on a connection of its own", "POST", "x".repeat(200_000), 200, ["POST"]],
])("%s when the Worker closes a kept connection", async (_, method, body, status, sent) => {
  const seen: string[] = [];
  const { origin } = await frontOf(breaking((before) => before > 0, seen));
  expect((await fetch(`${origin}/a`)).status).toBe(200);
  expect((await fetch(`${origin}/a`, { method, body })).status).toBe(status);
  expect(seen.slice(1)).toEqual(sent.map((name) => `${name} /a`));
});

it("sends requests with small bodies on the same connection, in order", async () => {
  const sockets = new Set<unknown>();
  const { origin } = await frontOf((request, response) => {
    sockets.add(request.socket);
    request.pipe(response);
  });
  for (const body of ["", "a", "x".repeat(10_000)]) {
    expect(await (await fetch(origin, { method: "POST", body })).text()).toBe(body);
  }
  expect(sockets.size).toBe(1);
});

it("keeps idle connections longer than balancers and clients do, which lose a request that meets the close", async () => {
  const { origin } = await frontOf(echo);
  expect((await fetch(origin)).headers.get("keep-alive")).toBe("timeout=75");
});

it("does not respond with a part of a small response that breaks off", async () => {
  const { origin } = await frontOf((_, response) => {
    response.writeHead(200, { "content-length": 10 }).write("half");
    setImmediate(() => response.destroy());
  });
  expect((await fetch(origin, { method: "POST" })).status).toBe(500);
});

it.each([
  ["GET", 2],
  ["POST", 1],
])(
  "sends a %s without a response %d times, then reports an unknown outcome, and logs the reason",
  async (method, times) => {
    const seen: string[] = [];
    const { origin, logged } = await frontOf(breaking(() => true, seen));
    const answer = await fetch(`${origin}/a?key=secret`, { method });
    expect([answer.status, await answer.json()]).toMatchObject([
      500,
      { error_code: "internal_error", status: "error" },
    ]);
    expect(seen.length).toBe(times);
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([
      { message: "request to the Worker failed", cause: "UND_ERR_SOCKET", method, path: "/a" },
    ]);
  },
);
