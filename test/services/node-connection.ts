// A proxy between an encoder node and the control plane. Records all messages of both.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import WebSocket, { WebSocketServer } from "ws";
import { readBody } from "../../local/demo/webhook-inbox.ts";

/** A frame, or the body of a request or answer about a lease. */
export type WireMessage = {
  readonly by: "node" | "control plane";
  /** `socket`, or the path of the request. */
  readonly where: string;
  readonly text: string;
};

export type NodeConnection = {
  readonly port: number;
  readonly messages: readonly WireMessage[];
  close(): Promise<void>;
};

/** Listens on a free loopback port for a node whose control plane is at `origin`. */
export async function startNodeConnection(origin: string): Promise<NodeConnection> {
  const messages: WireMessage[] = [];
  const server = createServer((request, response) => {
    forward(request, response, origin, messages).catch(() => response.destroy());
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const { authorization = "", "user-agent": userAgent = "" } = request.headers;
    const upstream = new WebSocket(`${origin.replace(/^http/, "ws")}${request.url}`, {
      headers: { authorization, "user-agent": userAgent },
    });
    upstream.once("error", () => socket.destroy());
    upstream.once("open", () => {
      sockets.handleUpgrade(request, socket, head, (node) => {
        tie(node, upstream, (text) => messages.push({ by: "node", where: "socket", text }));
        tie(upstream, node, (text) => messages.push({ by: "control plane", where: "socket", text }));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    messages,
    close: () =>
      new Promise((resolve) => {
        for (const node of sockets.clients) node.terminate();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function tie(from: WebSocket, to: WebSocket, record: (text: string) => void): void {
  from.on("message", (data) => {
    record(data.toString());
    to.send(data.toString());
  });
  from.on("close", () => to.close());
  from.on("error", () => to.terminate());
}

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  origin: string,
  messages: WireMessage[],
): Promise<void> {
  const { method = "GET", url: where = "", headers } = request;
  const body = (await readBody(request)).toString();
  messages.push({ by: "node", where, text: body });
  const { authorization = "", "content-type": type = "" } = headers;
  const answer = await fetch(`${origin}${where}`, { method, body, headers: { authorization, "content-type": type } });
  const text = await answer.text();
  messages.push({ by: "control plane", where, text });
  response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" }).end(text);
}
