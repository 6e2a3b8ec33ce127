import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { PROTOCOL_VERSION } from "#shared/protocol/frames.ts";
import { silentLog } from "../testing/silent-log.ts";
import { type LinkHandlers, NodeLink, reconnectMs, returnMs } from "./node-link.ts";

const ASSIGN = {
  type: "assign",
  assignment: {
    lease: "AAAAAAAAAAAAAA.inspect.1",
    token: "t",
    jobId: "AAAAAAAAAAAAAA",
    kind: "inspect",
    slotClass: "inspect",
    round: 0,
    task: { kind: "inspect", sourceUrl: "http://127.0.0.1/", chunking: null },
  },
};
const cleanUp: (() => void)[] = [];
afterEach(() => {
  for (const end of cleanUp.splice(0)) end();
});

/** A hub: its connections, and the frames that each connection received. */
async function hub() {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const connections: { socket: WebSocket; request: IncomingMessage; received: string[] }[] = [];
  server.on("connection", (socket, request) => {
    const received: string[] = [];
    socket.on("message", (data) => received.push(data.toString()));
    connections.push({ socket, request, received });
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
      running: running.map((lease) => ({ lease: lease as never, token: "t", slotClass: "encode" as const })),
    }),
    assign: vi.fn(),
    cancel: vi.fn(),
    look: vi.fn(),
    drain: vi.fn(),
    nameInUse: vi.fn(),
    welcome: vi.fn(),
    pace: vi.fn(),
  };
}

function open(url: string, linkHandlers: LinkHandlers): NodeLink {
  const link = new NodeLink({ url, token: "secret", log: silentLog }, linkHandlers);
  cleanUp.push(() => link.close());
  return link;
}

const connection = async ({ connections }: Awaited<ReturnType<typeof hub>>, number: number) => {
  await vi.waitFor(() => expect(connections[number - 1]?.received[0]).toBeDefined());
  const connection = connections[number - 1];
  if (!connection) throw new Error("No connection");
  return connection;
};

it("sends its token and the hello first, and dispatches the hub's frames", async () => {
  const server = await hub();
  const linkHandlers = handlers();
  const link = open(server.url, linkHandlers);
  const { socket, request, received } = await connection(server, 1);
  expect([request.url, request.headers.authorization]).toEqual(["/v2/nodes/connect", "Bearer secret"]);
  expect(JSON.parse(received[0] ?? "")).toMatchObject({
    type: "hello",
    protocol: PROTOCOL_VERSION,
    session: "s",
    running: [],
  });
  const frames = [
    { type: "welcome", progressEveryMs: 500 },
    ASSIGN,
    { type: "cancel", lease: ASSIGN.assignment.lease },
    { type: "drain" },
  ];
  for (const frame of frames) socket.send(JSON.stringify(frame));
  await vi.waitFor(() => expect(linkHandlers.drain).toHaveBeenCalledOnce());
  expect(linkHandlers.welcome).toHaveBeenCalledWith(expect.objectContaining({ progressEveryMs: 500 }));
  expect(linkHandlers.assign).toHaveBeenCalledWith(ASSIGN.assignment);
  expect(linkHandlers.cancel).toHaveBeenCalledWith(ASSIGN.assignment.lease);
  link.send({ type: "bye" });
  await vi.waitFor(() => expect(received).toContain('{"type":"bye"}'));
});

it("logs advice for the operator when Cloudflare refuses the connection before the hub sees it", async () => {
  const page = { server: "cloudflare", "content-type": "text/html; charset=UTF-8" };
  const server = createServer((_, response) => response.writeHead(403, page).end("<h1>Error 1010</h1>"));
  await once(server.listen(0, "127.0.0.1"), "listening");
  cleanUp.push(() => server.close());
  const requests: unknown[] = [];
  server.on("request", ({ headers }) => requests.push(headers["user-agent"]));
  const warned: unknown[] = [];
  const log = { ...silentLog, warn: (...line: unknown[]) => void warned.push(line) };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const link = new NodeLink({ url, token: "secret", log }, handlers());
  cleanUp.push(() => link.close());
  const error = expect.stringMatching(
    /^Cloudflare refused .*: skip Browser Integrity Check .* switch off Bot Fight Mode/,
  );
  await vi.waitFor(() => expect(warned[0]).toEqual(["hub connection failed", { error }]));
  await vi.waitFor(() => expect(warned[1]).toEqual(["hub disconnected", expect.anything()]));
  expect(requests[0]).toMatch(/^copra-node\/\d/);
});

it("reconnects after its connection is lost, and sends its current state", async () => {
  const server = await hub();
  const running: string[] = [];
  const link = open(server.url, handlers(running));
  const first = await connection(server, 1);
  running.push(ASSIGN.assignment.lease);
  first.socket.terminate();
  await vi.waitFor(() => expect(first.socket.readyState).toBe(3));
  link.send({ type: "bye" });
  const second = await connection(server, 2);
  expect(JSON.parse(second.received[0] ?? "")).toMatchObject({
    type: "hello",
    running: [{ lease: ASSIGN.assignment.lease }],
  });
  expect(second.received).not.toContain('{"type":"bye"}');
});

it("retries while the hub refuses connections, and stops when it is closed", async () => {
  const linkHandlers = handlers();
  const link = open("http://127.0.0.1:9", linkHandlers);
  await new Promise((resolve) => setTimeout(resolve, 50));
  link.close();
  expect(linkHandlers.welcome).not.toHaveBeenCalled();
});

it.each([
  [false, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]],
  [true, [500, 1000, 2000, 3000, 3000, 3000, 3000, 3000, 30_000]],
])("waits longer each time; with running leases (%s) it reconnects while they may live", (isBusy, longest) => {
  expect(longest.map((_, at) => reconnectMs(at + 1, isBusy, () => 1))).toEqual(longest);
});

it.each([
  [30_000, false, 30_000],
  [30_000, true, 8000],
  [500, true, 500],
])("returns within the %i ms that the hub states; with running leases (%s) within %i ms", (spread, isBusy, longest) => {
  expect(returnMs(spread, isBusy, () => 1)).toBe(longest);
  expect(returnMs(spread, isBusy, () => 0)).toBe(0);
});

it("connects with its name, and with the newest session that the hub gave it", async () => {
  const server = await hub();
  open(server.url, handlers());
  const sessions = async (number: number) => (await connection(server, number)).request.headers["copra-node-session"];
  const { socket, request } = await connection(server, 1);
  expect(request.headers["copra-node-name"]).toBe("n");
  const welcome = { type: "welcome", progressEveryMs: 500, reconnectSpreadMs: 50 };
  socket.send(JSON.stringify({ ...welcome, session: "first" }));
  socket.send(JSON.stringify({ type: "session", session: "second", reconnectSpreadMs: 50 }));
  socket.close();
  expect([await sessions(1), await sessions(2)]).toEqual([undefined, "second"]);
  const second = await connection(server, 2);
  // A welcome without a session ends the previous session.
  second.socket.send(JSON.stringify({ type: "welcome", progressEveryMs: 500 }));
  second.socket.close();
  expect(await sessions(3)).toBeUndefined();
});

it("reconnects after an invalid frame, which may have been an assignment", async () => {
  const server = await hub();
  const linkHandlers = handlers();
  open(server.url, linkHandlers);
  const { socket } = await connection(server, 1);
  socket.send(JSON.stringify({ type: "assign", assignment: { ...ASSIGN.assignment, jobId: "../../etc" } }));
  await connection(server, 2);
  expect(linkHandlers.assign).not.toHaveBeenCalled();
});

it("sends nothing when it is closed during the handshake", async () => {
  const server = new WebSocketServer({ noServer: true });
  const received = vi.fn();
  server.on("connection", (socket) => socket.on("message", received));
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
  expect(received).not.toHaveBeenCalled();
  expect([...server.clients].filter(({ readyState }) => readyState === 1)).toEqual([]);
});

it("resolves when a report is acknowledged, and gives up when no acknowledgment is possible", async () => {
  const { url, connections } = await hub();
  const link = new NodeLink({ url, token: "secret", log: silentLog }, handlers());
  cleanUp.push(() => link.close());
  const body = { token: "t", failure: { code: "node_failed", message: "m" } } as const;
  const report = { lease: "AAAAAAAAAAAAAA.encode.1" as never, verb: "fail", body } as const;
  await vi.waitFor(() => expect(connections[0]?.received[0]).toContain("hello"));
  // Before the welcome, the node does not know if the hub accepts it.
  expect(await link.report(report)).toBeNull();
  const say = (frame: object): void => connections[0]?.socket.send(JSON.stringify(frame));
  say({ type: "welcome", progressEveryMs: 1000 });
  const reports = () => (connections[0]?.received ?? []).filter((frame) => frame.includes('"report"'));
  // The welcome must have arrived.
  await new Promise((resolve) => setTimeout(resolve, 200));
  for (const [at, isAccepted] of [true, false].entries()) {
    const answer = link.report(report);
    await vi.waitFor(() => expect(reports()).toHaveLength(at + 1));
    const { id, ...frame } = JSON.parse(reports()[at] ?? "{}");
    expect(frame).toEqual({ type: "report", report });
    say({ type: "ack", id, isAccepted });
    expect(await answer).toBe(isAccepted);
  }
  const slots = { offered: { inspect: 0, encode: 1 }, released: [report.lease] };
  const slot = { freed: vi.fn(() => slots), acknowledged: vi.fn() };
  const waiting = link.report(report, slot);
  await vi.waitFor(() => expect(reports()).toHaveLength(3));
  const sent = JSON.parse(reports().at(-1) ?? "{}");
  expect(sent).toEqual({ type: "report", id: sent.id, report, slots });
  say({ type: "ack", id: sent.id, isAccepted: null });
  expect(await waiting).toBeNull();
  expect([slot.freed, slot.acknowledged].map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
  const accepted = link.report(report, slot);
  say({ type: "ack", id: sent.id + 1, isAccepted: true });
  expect(await accepted).toBe(true);
  expect(slot.acknowledged).toHaveBeenCalledOnce();
  const lost = link.report(report);
  connections[0]?.socket.terminate();
  expect(await lost).toBeNull();
  expect(await link.report(report)).toBeNull();
});

it("connects again after a frame that its handler cannot handle", async () => {
  const server = await hub();
  const assign = vi.fn(() => {
    throw new Error("Unexpected");
  });
  open(server.url, { ...handlers(), assign });
  const { socket } = await connection(server, 1);
  socket.send(JSON.stringify(ASSIGN));
  await connection(server, 2);
  expect(assign).toHaveBeenCalledOnce();
});
