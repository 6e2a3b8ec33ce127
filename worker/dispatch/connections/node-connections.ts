// The connected nodes and their sockets. A node's data is also in its socket's attachment, so that it survives
// hibernation.
import * as z from "zod";
import { messageOf } from "#shared/log.ts";
import type { Capabilities } from "#shared/protocol/capabilities.ts";
import { type HubFrame, PING, PONG } from "#shared/protocol/frames.ts";
import { type Profile, profileOf } from "#shared/protocol/requirements.ts";
import { log } from "../../log.ts";
import { ConnectedNode } from "../matching/nodes/connected-node.ts";
import { Roster } from "../matching/nodes/roster.ts";
import { KnownCapabilities } from "./known-capabilities.ts";
import { Admitted, NodeAbout } from "./node-about.ts";
import { NodeHistory, NodeWork } from "./node-history.ts";
import { KnownProgress } from "./progress-relay.ts";

/**
 * A node as stored in its socket's attachment, which holds 16,384 bytes. Its capabilities are stored elsewhere, once.
 */
const StoredNode = ConnectedNode.omit({ profile: true }).extend({
  about: NodeAbout,
  progress: z.array(KnownProgress),
  work: NodeWork,
});
/** Above these limits, no progress of a node is stored: the hub of so busy a node hardly ever hibernates. */
const MAX_STORED_PROGRESS = 8;
const MAX_PROGRESS_CHARS = 6000;

/** The attachment of a socket whose node has not sent hello. */
const PendingSocket = z.object({ admitted: Admitted, acceptedAt: z.number() });
type PendingSocket = z.infer<typeof PendingSocket>;

/** A node whose socket is open. */
export type SocketNode = ConnectedNode & {
  about: NodeAbout;
  progress: KnownProgress[];
  work: NodeWork;
  socket: WebSocket;
};

/** Nodes ping every 15 s. After this time without a ping the connection is dead, even if the socket is open. */
const SILENCE_LIMIT_MS = 45_000;
/** WebSocket close code (RFC 6455 §7.4.1). */
const GOING_AWAY = 1001;
/** Nodes send hello as soon as they are connected. */
export const HELLO_LIMIT_MS = 15_000;

export class NodeConnections {
  readonly roster = new Roster<SocketNode>();
  readonly #ctx: DurableObjectState;
  readonly #nodes = new Map<WebSocket, SocketNode>();
  /** Sockets whose node has not sent hello. */
  readonly #pending = new Map<WebSocket, PendingSocket>();
  readonly #capabilities: KnownCapabilities;
  readonly history: NodeHistory<SocketNode>;

  /** Restores the nodes from the attachments of their sockets. */
  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
    this.#capabilities = new KnownCapabilities(ctx.storage.kv);
    const nodes = (): Iterable<SocketNode> => this.roster.values();
    this.history = new NodeHistory(ctx.storage.kv, nodes, (node) => this.#store(node));
    for (const socket of ctx.getWebSockets()) {
      const attachment: unknown = socket.deserializeAttachment();
      const node = StoredNode.safeParse(attachment);
      const pending = PendingSocket.safeParse(attachment);
      if (node.success) this.#restore({ ...node.data, socket });
      else if (pending.success) this.#pending.set(socket, pending.data);
    }
  }

  #restore(node: Omit<SocketNode, "profile">): void {
    const profile = this.profileOf(node.about);
    if (profile) this.add({ ...node, profile });
    else node.socket.close(GOING_AWAY, "the hub has lost the capabilities of this node");
  }

  get size(): number {
    return this.#nodes.size;
  }

  get(socket: WebSocket): SocketNode | null {
    return this.#nodes.get(socket) ?? null;
  }

  /** Accepts a socket. Its node must send hello. */
  accept(socket: WebSocket, admitted: Admitted, now: number): void {
    this.#ctx.acceptWebSocket(socket, [admitted.token]);
    const pending = { admitted, acceptedAt: now };
    this.#pending.set(socket, pending);
    socket.serializeAttachment(pending);
  }

  /** The checked facts about a socket's node before its hello; null for a socket that is closed or unknown. */
  admittedOf(socket: WebSocket): Admitted | null {
    return this.#pending.get(socket)?.admitted ?? null;
  }

  /** True if a connected node has not sent hello. */
  get isAwaitingHello(): boolean {
    return this.#pending.size > 0;
  }

  /** The sockets that have waited too long for a hello. */
  overdue(now: number): WebSocket[] {
    const late = [...this.#pending].filter(([, { acceptedAt }]) => acceptedAt <= now - HELLO_LIMIT_MS);
    return late.map(([socket]) => socket);
  }

  /** Stores the capabilities of a node, and returns their key. */
  keepCapabilities(capabilities: Capabilities): string {
    return this.#capabilities.put(
      capabilities,
      () => new Set([...this.#nodes.values()].map(({ about }) => about.capabilities)),
    );
  }

  /** The capabilities that a node reported; null if they were forgotten. */
  capabilitiesOf(about: NodeAbout): Capabilities | null {
    return this.#capabilities.get(about.capabilities);
  }

  /** The profile of a node, which determines its work. */
  profileOf(about: NodeAbout): Profile | null {
    const capabilities = this.capabilitiesOf(about);
    const { admitted } = about;
    return capabilities && profileOf({ ...about, pool: admitted.pool }, capabilities);
  }

  add(node: SocketNode): void {
    this.#pending.delete(node.socket);
    this.#nodes.set(node.socket, node);
    this.roster.add(node);
    this.update(node, {});
  }

  /**
   * Removes a socket's node. The runtime still lists closing sockets: it cannot restore a node without an attachment.
   */
  remove(socket: WebSocket): SocketNode | null {
    const node = this.get(socket);
    this.#nodes.delete(socket);
    this.#pending.delete(socket);
    if (node) this.history.left(node, Date.now());
    if (node) this.roster.remove(node);
    socket.serializeAttachment(null);
    return node;
  }

  update(node: SocketNode, patch: Partial<Omit<SocketNode, "socket">>): void {
    this.roster.change(node, patch);
    this.history.note(node, node.work.speed, Date.now());
    this.#store(node);
  }

  /** Stores the known progress of a node's leases, if there is room for it. */
  keepProgress(node: SocketNode, known: KnownProgress[]): void {
    const isStored = known.length <= MAX_STORED_PROGRESS && JSON.stringify(known).length <= MAX_PROGRESS_CHARS;
    if (!isStored && node.progress.length === 0) return;
    node.progress = isStored ? known : [];
    this.#store(node);
  }

  #store(node: SocketNode): void {
    const { socket, profile: _, ...stored } = node;
    if (this.#nodes.get(socket) !== node) return;
    socket.serializeAttachment({ ...stored, free: this.roster.offeredBy(node) });
  }

  /** Sends a frame. If the frame is lost in a closing socket, the leases that it concerns expire. */
  send(node: SocketNode, frame: HubFrame): void {
    log.debug("frame sent", { node: node.nodeId, type: frame.type });
    try {
      node.socket.send(JSON.stringify(frame));
    } catch (error) {
      log.warn("frame not sent", { node: node.nodeId, type: frame.type, error: messageOf(error) });
    }
  }

  isAlive({ socket, heardAt }: SocketNode, now: number): boolean {
    const pongAt = this.#ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0;
    return Math.max(heardAt, pongAt) > now - SILENCE_LIMIT_MS;
  }
}
