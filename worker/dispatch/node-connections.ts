// The connected nodes and their sockets. A node's data is also in its socket's attachment, so that it outlives
// hibernation.
import { messageOf } from "#shared/log.ts";
import { type HubFrame, PING, PONG } from "#shared/protocol/frames.ts";
import { log } from "../log.ts";
import { ConnectedNode, Roster } from "./matching/roster.ts";

/** A node whose socket is open. */
export type SocketNode = ConnectedNode & { socket: WebSocket };

/** Nodes ping every 15 s: after this long without a ping the connection is dead, even if the socket is open. */
const SILENCE_LIMIT_MS = 45_000;

export class NodeConnections {
  readonly roster = new Roster<SocketNode>();
  readonly #ctx: DurableObjectState;
  readonly #nodes = new Map<WebSocket, SocketNode>();

  /** Restores the nodes from the attachments of their sockets. */
  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
    for (const socket of ctx.getWebSockets()) {
      const node = ConnectedNode.safeParse(socket.deserializeAttachment());
      if (node.success) this.add({ ...node.data, socket });
    }
  }

  get size(): number {
    return this.#nodes.size;
  }

  get(socket: WebSocket): SocketNode | null {
    return this.#nodes.get(socket) ?? null;
  }

  add(node: SocketNode): void {
    this.#nodes.set(node.socket, node);
    this.roster.add(node);
    this.update(node, {});
  }

  /** Removes a socket's node. The runtime still lists closing sockets: without an attachment they are not restored. */
  remove(socket: WebSocket): SocketNode | null {
    const node = this.get(socket);
    this.#nodes.delete(socket);
    if (node) this.roster.remove(node);
    socket.serializeAttachment(null);
    return node;
  }

  update(node: SocketNode, patch: Partial<ConnectedNode>): void {
    this.roster.change(node, patch);
    const { socket, ...attachment } = node;
    if (this.#nodes.get(socket) === node) socket.serializeAttachment(attachment);
  }

  /** Sends a frame. If it is lost in a closing socket, the leases that it concerns expire. */
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
