// The socket to the hub: it is for latency alone, so whatever it loses is made good by leases and reports.

import WebSocket from "ws";
import { backoffMs, type Random } from "#shared/backoff.ts";
import { assertNever } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import type { Logger } from "#shared/log.ts";
import {
  type Assignment,
  decodeHubFrame,
  type HubFrame,
  type NodeFrame,
  type NodeFrameOf,
  PING,
  PROTOCOL_VERSION,
} from "#shared/protocol/protocol.ts";

/** What the link needs to know and whom it tells. */
export interface LinkHandlers {
  /** What is true right now: it is asked anew for every connection. */
  hello(): Omit<NodeFrameOf<"hello">, "type" | "protocol">;
  assign(assignment: Assignment): void;
  cancel(lease: LeaseId): void;
  yield(lease: LeaseId): void;
  drain(): void;
  welcome(progressEveryMs: number): void;
}

export interface NodeLink {
  /** Sends a frame; without a connection it is dropped, and the next hello says what is true then. */
  send(frame: NodeFrame): void;
  close(): void;
}

const PING_EVERY_MS = 15_000;
/** A connection over which nothing was heard for so long is dead, whatever the system says. */
const SILENCE_LIMIT_MS = 40_000;
/** "Inconsistent data" (RFC 6455 §7.4.1). */
const INVALID_FRAME = 1007;
const RECONNECT = { firstMs: 500, maxMs: 30_000 };
/** With work in hand: its leases live 10 s after a lost connection (SUSPECT_GRACE_MS of worker/job/job-object.ts). */
const RECONNECT_BUSY = { firstMs: 500, maxMs: 3000 };
/** Some ten seconds of them: then the leases are gone anyway, and the control plane may be down for long. */
const BUSY_FAILURES = 8;

/** How long to wait after so many failures in a row, in ms; `isBusy`: with work in hand. */
export const reconnectMs = (failures: number, isBusy: boolean, random: Random): number =>
  backoffMs(failures, isBusy && failures <= BUSY_FAILURES ? RECONNECT_BUSY : RECONNECT, random);

/** Connects to the control plane and stays connected until closed. */
export function openLink(options: { url: string; token: string; log: Logger }, handlers: LinkHandlers): NodeLink {
  const { token, log } = options;
  const url = `${options.url.replace(/^http/, "ws")}/v2/nodes/connect`;
  /** The latest connection, which may not be open yet. */
  let socket: WebSocket | null = null;
  let retry: NodeJS.Timeout | null = null;
  let failures = 0;
  let closed = false;

  const connect = (): void => {
    const current = new WebSocket(url, { headers: { authorization: `Bearer ${token}` }, handshakeTimeout: 15_000 });
    socket = current;
    let heardAt = Date.now();
    const ping = setInterval(() => {
      if (Date.now() - heardAt > SILENCE_LIMIT_MS) current.terminate();
      else if (current.readyState === WebSocket.OPEN) current.send(PING);
    }, PING_EVERY_MS);
    current.on("open", () => send(current, { type: "hello", protocol: PROTOCOL_VERSION, ...handlers.hello() }));
    current.on("message", (data) => {
      heardAt = Date.now();
      const text = data.toString();
      if (text.startsWith("{") && current.readyState === WebSocket.OPEN) take(text, current);
    });
    current.on("error", (error) => {
      if (!closed) log.warn("Connection failed", { error: error.message });
    });
    current.on("close", (code, reason) => {
      clearInterval(ping);
      if (socket === current) socket = null;
      if (closed) return;
      failures += 1;
      const isBusy = handlers.hello().running.length > 0;
      const delayMs = reconnectMs(failures, isBusy, Math.random);
      log.warn("Not connected to the control plane, trying again", { code, reason: reason.toString(), delayMs });
      retry = setTimeout(connect, delayMs);
    });
  };

  const take = (text: string, current: WebSocket): void => {
    const decoded = decodeHubFrame(text);
    if (!decoded.ok) {
      log.warn("Frame of the hub not understood", { reason: decoded.reason, detail: decoded.detail });
      // It may have been an assignment: the next hello says which slots are really free.
      if (decoded.reason === "invalid") current.close(INVALID_FRAME, "frame not understood");
      return;
    }
    const { frame } = decoded;
    if (frame.type === "welcome") {
      failures = 0;
      log.info("Connected to the control plane");
    }
    dispatch(frame, handlers);
  };

  connect();
  return {
    send: (frame) => {
      if (socket?.readyState === WebSocket.OPEN) send(socket, frame);
    },
    close: () => {
      closed = true;
      if (retry) clearTimeout(retry);
      // During the handshake this breaks it off.
      socket?.close(1000, "node stops");
    },
  };
}

function dispatch(frame: HubFrame, handlers: LinkHandlers): void {
  switch (frame.type) {
    case "welcome":
      return handlers.welcome(frame.progressEveryMs);
    case "assign":
      return handlers.assign(frame.assignment);
    case "cancel":
      return handlers.cancel(frame.lease);
    case "yield":
      return handlers.yield(frame.lease);
    case "drain":
      return handlers.drain();
    default:
      return assertNever(frame);
  }
}

const send = (socket: WebSocket, frame: NodeFrame): void => socket.send(JSON.stringify(frame));
