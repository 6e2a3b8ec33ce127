// Passes WebSocket messages on between a node and the hub, one by one, so that a test can make single ones fail.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import WebSocket, { type RawData, WebSocketServer } from "ws";

/** A frame of the protocol: what a rule may look at. */
export type ProxiedFrame = { readonly from: "node" | "hub"; readonly type: string; readonly [field: string]: unknown };

/** `lose`: the other side never gets it. `twice`: it gets it twice. `break`: the connection breaks instead. */
export type FrameFault = "lose" | "twice" | "break";

/** Decides on each frame; null lets it through. */
export type FrameRule = (frame: ProxiedFrame) => FrameFault | null;

/** A rule that does `fault` to the first frame that fits, and nothing to others. */
export function onceFrame(fits: (frame: ProxiedFrame) => boolean, fault: FrameFault): FrameRule {
  let isOpen = true;
  return (frame) => {
    if (!isOpen || !fits(frame)) return null;
    isOpen = false;
    return fault;
  };
}

const server = new WebSocketServer({ noServer: true });
/** Headers of the handshake itself: each connection has its own. */
const OF_HANDSHAKE = /^(?:host|connection|upgrade|sec-websocket-.*)$/i;

/** Accepts a connection, opens its own to the server at `target`, and passes messages on until either ends. */
export function relayFrames(
  target: string,
  { request, socket, head }: { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer },
  rule: FrameRule,
): void {
  const headers = Object.entries(request.headers).filter(([name]) => !OF_HANDSHAKE.test(name));
  const hub = new WebSocket(`${target.replace(/^http/, "ws")}${request.url}`, { headers: Object.fromEntries(headers) });
  // Answered only once the hub has accepted: what it sends first must not be lost.
  hub.once("open", () =>
    server.handleUpgrade(request, socket, head, (node) => {
      const end = (): void => {
        hub.terminate();
        node.terminate();
      };
      const pass = (from: "node" | "hub", data: RawData): void => {
        const text = data.toString();
        const fault = rule(frameOf(from, text));
        const to = from === "node" ? hub : node;
        if (fault === "break") end();
        if (fault === null || fault === "twice") to.send(text);
        if (fault === "twice") to.send(text);
      };
      node.on("message", (data) => pass("node", data));
      for (const message of early.splice(0)) pass("hub", message);
      hub.off("message", hold).on("message", (data) => pass("hub", data));
      node.on("close", (code, reason) => close(hub, code, reason)).on("error", end);
      hub.on("close", (code, reason) => close(node, code, reason));
    }),
  );
  const early: RawData[] = [];
  const hold = (data: RawData): void => void early.push(data);
  hub.on("message", hold);
  hub.on("error", () => socket.destroy());
}

/** Pings are not frames. */
function frameOf(from: "node" | "hub", text: string): ProxiedFrame {
  const fields: object = text.startsWith("{") ? JSON.parse(text) : {};
  return { type: "", ...fields, from };
}

/** Codes below 3000 that no endpoint may send stand for a broken connection (RFC 6455 §7.4.1). */
function close(to: WebSocket, code: number, reason: Buffer): void {
  if (code === 1005 || code === 1006) to.terminate();
  else to.close(code, reason);
}
