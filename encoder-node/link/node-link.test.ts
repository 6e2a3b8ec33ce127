import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { createLogger } from "#shared/log.ts";
import { PROTOCOL_VERSION } from "#shared/protocol/protocol.ts";
import { type LinkHandlers, type NodeLink, openLink, reconnectMs } from "./node-link.ts";

const log = createLogger({ write: () => undefined, now: Date.now, level: "error" });
const ASSIGN = {
  type: "assign",
  assignment: {
    lease: "AAAAAAAAAAAAAA.inspect.1",
    token: "t",
    jobId: "AAAAAAAAAAAAAA",
    task: { kind: "inspect", sourceUrl: "http://127.0.0.1/", chunking: null },
  },
};
const cleanUp: (() => void)[] = [];
afterEach(() => {
  for (const end of cleanUp.splice(0)) end();
});

/** A hub's side: the connections that came, and what was heard on each. */
async function hub() {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const connections: { socket: WebSocket; request: IncomingMessage; heard: string[] }[] = [];
  server.on("connection", (socket, request) => {
    const heard: string[] = [];
    socket.on("message", (data) => heard.push(data.toString()));
    connections.push({ socket, request, heard });
  });
  cleanUp.push(() => {
    for (const { socket } of connections) socket.terminate();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections };
}

function handlers(running: string[] = []): LinkHandlers {
  return {
    hello: () => ({
      nodeId: "n",
      session: "s",
      capabilities: { ffmpegVersion: "7.0", encoders: [], cpus: 2, filters: [], muxers: [], hardware: null },
      slots: { inspect: 1, encode: 1 },
      running: running.map((lease) => ({ lease: lease as never, token: "t" })),
    }),
    assign: vi.fn(),
    cancel: vi.fn(),
    yield: vi.fn(),
    drain: vi.fn(),
    welcome: vi.fn(),
  };
}

function open(url: string, tells: LinkHandlers): NodeLink {
  const link = openLink({ url, token: "secret", log }, tells);
  cleanUp.push(link.close);
  return link;
}

const connection = async ({ connections }: Awaited<ReturnType<typeof hub>>, number: number) => {
  await vi.waitFor(() => expect(connections[number - 1]?.heard[0]).toBeDefined(), { timeout: 5000 });
  const found = connections[number - 1];
  if (!found) throw new Error("No connection");
  return found;
};

it("shows its token, says hello first, and passes on what the hub says", async () => {
  const server = await hub();
  const tells = handlers();
  const link = open(server.url, tells);
  const { socket, request, heard } = await connection(server, 1);
  expect([request.url, request.headers.authorization]).toEqual(["/v2/nodes/connect", "Bearer secret"]);
  expect(JSON.parse(heard[0] ?? "")).toMatchObject({
    type: "hello",
    protocol: PROTOCOL_VERSION,
    session: "s",
    running: [],
  });
  const frames = [
    { type: "welcome", protocol: PROTOCOL_VERSION, progressEveryMs: 500 },
    { type: "news" },
    ASSIGN,
    { type: "cancel", lease: ASSIGN.assignment.lease },
    { type: "drain" },
  ];
  for (const frame of frames) socket.send(JSON.stringify(frame));
  await vi.waitFor(() => expect(tells.drain).toHaveBeenCalledOnce());
  expect(tells.welcome).toHaveBeenCalledWith(500);
  expect(tells.assign).toHaveBeenCalledWith(ASSIGN.assignment);
  expect(tells.cancel).toHaveBeenCalledWith(ASSIGN.assignment.lease);
  link.send({ type: "bye" });
  await vi.waitFor(() => expect(heard).toContain('{"type":"bye"}'));
});

it("comes back after its connection is gone, and says what is true then", async () => {
  const server = await hub();
  const running: string[] = [];
  const link = open(server.url, handlers(running));
  const first = await connection(server, 1);
  running.push(ASSIGN.assignment.lease);
  first.socket.terminate();
  await vi.waitFor(() => expect(first.socket.readyState).toBe(3));
  link.send({ type: "bye" });
  const second = await connection(server, 2);
  expect(JSON.parse(second.heard[0] ?? "")).toMatchObject({
    type: "hello",
    running: [{ lease: ASSIGN.assignment.lease }],
  });
  expect(second.heard).not.toContain('{"type":"bye"}');
});

it("keeps trying while nobody listens, and stops when it is closed", async () => {
  const tells = handlers();
  const link = open("http://127.0.0.1:9", tells);
  await new Promise((resolve) => setTimeout(resolve, 50));
  link.close();
  expect(tells.welcome).not.toHaveBeenCalled();
});

it.each([
  [false, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]],
  [true, [500, 1000, 2000, 3000, 3000, 3000, 3000, 3000, 30_000]],
])("waits longer each time; with work in hand (%s) it comes back while its leases may live", (isBusy, longest) => {
  expect(longest.map((_, at) => reconnectMs(at + 1, isBusy, () => 1))).toEqual(longest);
});

it("connects anew after a frame that it cannot read, which may have been an assignment", async () => {
  const server = await hub();
  const tells = handlers();
  open(server.url, tells);
  const { socket } = await connection(server, 1);
  socket.send(JSON.stringify({ type: "assign", assignment: { ...ASSIGN.assignment, jobId: "../../etc" } }));
  await connection(server, 2);
  expect(tells.assign).not.toHaveBeenCalled();
});

it("says nothing more when it is closed amid the handshake", async () => {
  const server = new WebSocketServer({ noServer: true });
  const heard = vi.fn();
  server.on("connection", (socket) => socket.on("message", heard));
  const http = createServer();
  const upgrades: (() => void)[] = [];
  http.on("upgrade", (request, socket, head) => {
    upgrades.push(() =>
      server.handleUpgrade(request, socket, head, (peer) => server.emit("connection", peer, request)),
    );
  });
  await new Promise<void>((listening) => http.listen(0, "127.0.0.1", listening));
  cleanUp.push(() => http.close());
  const link = open(`http://127.0.0.1:${(http.address() as AddressInfo).port}`, handlers());
  await vi.waitFor(() => expect(upgrades).toHaveLength(1));
  link.close();
  upgrades[0]?.();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(heard).not.toHaveBeenCalled();
  expect([...server.clients].filter(({ readyState }) => readyState === 1)).toEqual([]);
});
