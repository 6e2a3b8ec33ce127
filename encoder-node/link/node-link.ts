// The WebSocket to the hub. It only reduces latency: leases and reports make up for every lost frame.
import WebSocket, { type RawData } from "ws";
import { backoffMs, type Random } from "#shared/backoff.ts";
import { assertNever } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import { type LogFields, type Logger, messageOf } from "#shared/log.ts";
import {
  decodeHubFrame,
  type HubFrame,
  NAME_HEADER,
  NAME_IN_USE,
  type NodeFrame,
  type NodeFrameOf,
  PING,
  PROTOCOL_VERSION,
  SESSION_HEADER,
  SESSION_MS,
} from "#shared/protocol/frames.ts";
import type { LeaseReport } from "#shared/protocol/reports.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import { NODE_USER_AGENT } from "#shared/version.ts";
import { guarded } from "../async/guarded.ts";
import { edgeBlock } from "./control-plane.ts";
import type { SlotReturn } from "./reports.ts";
import { SocketReports } from "./socket-reports.ts";

type WelcomeFrame = Extract<HubFrame, { type: "welcome" }>;

export interface LinkHandlers {
  /** The node's current state; called for each connection. */
  hello(): Omit<NodeFrameOf<"hello">, "type" | "protocol">;
  assign(assignment: Assignment): void;
  cancel(lease: LeaseId): void;
  /** Somebody looks at a lease: its running commands are wanted. */
  look(lease: LeaseId): void;
  drain(): void;
  /** Another node has this node's name, which was new. */
  nameInUse(): void;
  welcome(frame: WelcomeFrame): void;
  /** `progressEveryMs`: the interval of progress frames from now on, in ms. */
  pace(progressEveryMs: number): void;
}

export type LinkOptions = { readonly url: string; readonly token: string; readonly log: Logger };

const PING_EVERY_MS = 15_000;
/** After this time without any received data a connection is dead, even if the operating system reports it as open. */
const SILENCE_LIMIT_MS = 40_000;
const HANDSHAKE_TIMEOUT_MS = 15_000;
const NORMAL_CLOSURE = 1000;
/** "Inconsistent data" (RFC 6455 §7.4.1). */
const INVALID_FRAME = 1007;
const RECONNECT = { firstMs: 500, maxMs: 30_000 };
/**
 * Used while leases run: leases of short work survive a lost connection for only 10 s (worker/job/decide/leases.ts).
 */
const RECONNECT_BUSY = { firstMs: 500, maxMs: 3000 };
/** About ten seconds of attempts. After that the leases are lost anyway, and the control plane may be down for long. */
const BUSY_FAILURES = 8;

/**
 * After a deploy all nodes of a hub lose their connections at once. The hub states the time over which they return.
 * Nodes with leases return before the leases of a lost connection are given to other nodes.
 */
const MAX_SPREAD_BUSY_MS = 8000;

/** Delay before the first attempt after the loss of an accepted connection, in ms. */
export const returnMs = (spreadMs: number, isBusy: boolean, random: Random): number =>
  Math.round(random() * (isBusy ? Math.min(spreadMs, MAX_SPREAD_BUSY_MS) : spreadMs));

/** Delay before the next attempt after `failures` failures in a row, in ms; `isBusy`: leases run. */
export const reconnectMs = (failures: number, isBusy: boolean, random: Random): number =>
  backoffMs(failures, isBusy && failures <= BUSY_FAILURES ? RECONNECT_BUSY : RECONNECT, random);

/** A connection to the control plane that reconnects until it is closed. */
export class NodeLink {
  readonly #options: LinkOptions;
  readonly #handlers: LinkHandlers;
  /** The latest connection, which may not be open yet. */
  #socket: WebSocket | null = null;
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #isClosed = false;
  /** The latest session from the hub, which proves this node's token. */
  #session: { readonly text: string; readonly at: number } | null = null;
  #spreadMs: number | null = null;
  /** True if the hub of this connection has accepted the node. */
  #isWelcome = false;
  readonly #reports = new SocketReports((socket, frame) => this.#send(socket, frame));

  /** Starts to connect. */
  constructor(options: LinkOptions, handlers: LinkHandlers) {
    this.#options = options;
    this.#handlers = handlers;
    this.#connect();
  }

  /** Sends a frame. Without a connection the frame is dropped; the next hello states the node's current state. */
  send(frame: NodeFrame): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#send(this.#socket, frame);
  }

  /**
   * Sends a report on a lease. Resolves to true or false when its job has accepted or rejected the report. Resolves to
   * null when no answer comes in time, or when the socket does not take this kind of report.
   */
  report(report: LeaseReport, slot?: SlotReturn): Promise<boolean | null> {
    if (!this.#socket || !this.isOpen || !this.#isWelcome) return Promise.resolve(null);
    return this.#reports.send(this.#socket, report, slot);
  }

  /** True if the connection is open now. */
  get isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Connects again, so that the hub receives the node's whole state. */
  restart(): void {
    this.#socket?.close(NORMAL_CLOSURE, "node starts over");
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    // During the handshake this aborts the handshake.
    this.#socket?.close(NORMAL_CLOSURE, "node stops");
  }

  #connect(): void {
    const { url, token, log } = this.#options;
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/v2/nodes/connect`, {
      headers: this.#headers(token),
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    });
    this.#socket = socket;
    this.#isWelcome = false;
    let receivedAt = Date.now();
    const ping = setInterval(() => {
      if (Date.now() - receivedAt > SILENCE_LIMIT_MS) socket.terminate();
      else if (socket.readyState === WebSocket.OPEN) {
        socket.send(PING);
        this.#renewSession(socket);
      }
    }, PING_EVERY_MS);
    // The next hello states the node's whole state again.
    const failed = (error: unknown): void => {
      log.error("hub frame not understood", { error: messageOf(error) });
      socket.terminate();
    };
    const hello = (): void =>
      this.#send(socket, { type: "hello", protocol: PROTOCOL_VERSION, ...this.#handlers.hello() });
    const receive = (data: RawData): void => {
      receivedAt = Date.now();
      this.#receive(data, socket);
    };
    socket.on("open", guarded(hello, failed));
    socket.on("message", guarded(receive, failed));
    let failure: string | null = null;
    socket.on("unexpected-response", (_, { statusCode: status = 0, headers }) => {
      const head = { status, server: headers.server, contentType: headers["content-type"] };
      failure = edgeBlock(head) ?? `Unexpected server response: ${status}`;
      socket.terminate();
    });
    socket.on("error", (error) => {
      if (!this.#isClosed) log.warn("hub connection failed", { error: failure ?? error.message });
    });
    socket.on("close", (code, reason) => {
      clearInterval(ping);
      if (this.#socket === socket) this.#socket = null;
      this.#reports.lose();
      if (!this.#isClosed) this.#reconnect(code, reason.toString());
    });
  }

  #headers(token: string): Record<string, string> {
    const name = encodeURIComponent(this.#handlers.hello().nodeId);
    const session = this.#session && { [SESSION_HEADER]: this.#session.text };
    return { authorization: `Bearer ${token}`, "user-agent": NODE_USER_AGENT, [NAME_HEADER]: name, ...session };
  }

  /** The hub replies to any frame with a new session after half the time of the previous session. */
  #renewSession(socket: WebSocket): void {
    if (!this.#session || Date.now() - this.#session.at < SESSION_MS / 2) return;
    this.#send(socket, { type: "slots", offered: { inspect: 0, encode: 0 }, released: [] });
  }

  #reconnect(code: number, reason: string): void {
    const isBusy = this.#handlers.hello().running.length > 0;
    const wasAccepted = this.#failures === 0 && this.#spreadMs !== null;
    if (reason === NAME_IN_USE) this.#handlers.nameInUse();
    this.#failures += 1;
    const delayMs = wasAccepted
      ? returnMs(this.#spreadMs ?? 0, isBusy, Math.random)
      : reconnectMs(this.#failures, isBusy, Math.random);
    this.#options.log.warn("hub disconnected", { code, reason, delayMs });
    this.#retry = setTimeout(() => this.#connect(), delayMs);
  }

  #receive(data: RawData, socket: WebSocket): void {
    const { log } = this.#options;
    const text = data.toString();
    if (!text.startsWith("{") || socket.readyState !== WebSocket.OPEN) return;
    const decoded = decodeHubFrame(text);
    if (!decoded.ok) {
      log.warn("hub frame not understood", { ...decoded.error });
      // The frame may have been an assignment: the next hello states which slots are really free.
      return socket.close(INVALID_FRAME, "frame not understood");
    }
    const { value: frame } = decoded;
    log.debug("frame received", frameFields(frame));
    if (frame.type === "welcome") {
      this.#failures = 0;
      this.#isWelcome = true;
      log.info("control plane connected");
    }
    if (frame.type === "welcome" || frame.type === "session") {
      const { session, reconnectSpreadMs = null } = frame;
      this.#session = session === undefined ? null : { text: session, at: Date.now() };
      this.#spreadMs = reconnectSpreadMs;
    }
    if (frame.type === "ack") this.#reports.acknowledge(frame);
    else dispatch(frame, this.#handlers);
  }

  #send(socket: WebSocket, frame: NodeFrame): void {
    this.#options.log.debug("frame sent", frameFields(frame));
    socket.send(JSON.stringify(frame));
  }
}

/** The fields of a frame that may be logged: no tokens, no URLs. */
function frameFields(frame: HubFrame | NodeFrame): LogFields {
  switch (frame.type) {
    case "assign":
      return { type: frame.type, lease: frame.assignment.lease, kind: frame.assignment.kind };
    case "hello":
      return { type: frame.type, running: frame.running.length, ...frame.slots };
    case "slots":
      return { type: frame.type, ...frame.offered, released: frame.released.join(" ") };
    case "progress":
      return { type: frame.type, leases: frame.items.length };
    default:
      return { type: frame.type, lease: "lease" in frame ? frame.lease : undefined };
  }
}

function dispatch(frame: Exclude<HubFrame, { type: "ack" }>, handlers: LinkHandlers): void {
  switch (frame.type) {
    case "welcome":
      return handlers.welcome(frame);
    case "session":
      return;
    case "assign":
      return handlers.assign(frame.assignment);
    case "cancel":
      return handlers.cancel(frame.lease);
    case "look":
      return handlers.look(frame.lease);
    case "pace":
      return handlers.pace(frame.progressEveryMs);
    case "drain":
      return handlers.drain();
    default:
      return assertNever(frame);
  }
}
