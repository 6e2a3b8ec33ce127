// The object that holds the nodes' sockets and the jobs' tickets. It decides nothing for a job and can be lost.
import { DurableObject } from "cloudflare:workers";
import { assertNever } from "#shared/errors.ts";
import { type LeaseId, parseLeaseId } from "#shared/ids.ts";
import { messageOf } from "#shared/log.ts";
import {
  decodeNodeFrame,
  type HubFrame,
  type LeaseProof,
  type NodeFrame,
  type NodeFrameOf,
  PING,
  PONG,
  PROTOCOL_VERSION,
} from "#shared/protocol.ts";
import { type Env, jobOf, log } from "../env.ts";
import { choose, nextOpening, type Offer } from "./choose.ts";
import { addSlots, ConnectedNode } from "./roster.ts";
import { isStale, Ticket, type TicketOffer, ticketKey } from "./tickets.ts";

/** A node whose socket is open. */
type SocketNode = ConnectedNode & { socket: WebSocket };

const PROGRESS_EVERY_MS = 1000;
/** A job that could not be asked is asked again after this long. */
const CLAIM_RETRY_MS = 1000;
/** WebSocket close codes (RFC 6455 §7.4.1). */
const POLICY_VIOLATION = 1008;
const NORMAL = 1000;
const TICKETS = "ticket:";

export class NodeHub extends DurableObject<Env> {
  #nodes = new Map<WebSocket, SocketNode>();
  #tickets = new Map<string, Ticket>();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
    for (const socket of ctx.getWebSockets()) {
      const node = ConnectedNode.safeParse(socket.deserializeAttachment());
      if (node.success) this.#nodes.set(socket, { ...node.data, socket });
    }
    for (const [key, value] of ctx.storage.kv.list({ prefix: TICKETS })) {
      this.#tickets.set(key.slice(TICKETS.length), Ticket.parse(value));
    }
  }

  /** Takes over a node's socket; the Worker has checked its token. */
  override async fetch(): Promise<Response> {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  /** A job tells how many tasks of a class wait; zero withdraws them. */
  async advertise(offer: TicketOffer): Promise<void> {
    this.#putTicket({ ...offer, advertisedAt: Date.now() });
    await this.#match();
  }

  async stats(): Promise<{ nodes: number; tickets: number }> {
    return { nodes: this.#nodes.size, tickets: this.#tickets.size };
  }

  override async alarm(): Promise<void> {
    await this.#match();
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    const decoded = decodeNodeFrame(typeof message === "string" ? message : "");
    if (!decoded.ok) {
      log.warn("Node sent a frame that is not understood", { reason: decoded.reason, detail: decoded.detail });
      if (decoded.reason === "invalid") socket.close(POLICY_VIOLATION, "invalid frame");
      return;
    }
    try {
      await this.#take(socket, decoded.frame);
    } catch (error) {
      log.error("Frame failed", { type: decoded.frame.type, error: messageOf(error) });
    }
  }

  override async webSocketClose(socket: WebSocket): Promise<void> {
    await this.#lose(socket);
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    await this.#lose(socket);
  }

  async #take(socket: WebSocket, frame: NodeFrame): Promise<void> {
    if (frame.type === "hello") return this.#welcome(socket, frame);
    const node = this.#nodes.get(socket);
    if (!node) return socket.close(POLICY_VIOLATION, "hello comes first");
    switch (frame.type) {
      case "slots": {
        const leases = node.leases.filter((lease) => !frame.released.includes(lease as LeaseId));
        this.#update(node, { free: addSlots(node.free, frame.grant), leases });
        return this.#match();
      }
      case "progress":
        return this.#forEachJob(node, frame.items, (job, items) => job.progress(items));
      case "bye":
        return this.#update(node, { free: { inspect: 0, encode: 0 } });
      default:
        return assertNever(frame);
    }
  }

  async #welcome(socket: WebSocket, hello: NodeFrameOf<"hello">): Promise<void> {
    if (hello.protocol !== PROTOCOL_VERSION) {
      return socket.close(POLICY_VIOLATION, `protocol ${PROTOCOL_VERSION} is spoken here: update this node`);
    }
    const { nodeId, session, capabilities, slots, running } = hello;
    await this.#replaceOlder(nodeId, session);
    const node = { nodeId, session, capabilities, free: slots, leases: running.map(({ lease }) => lease), socket };
    this.#nodes.set(socket, node);
    this.#update(node, {});
    this.#send(node, { type: "welcome", protocol: PROTOCOL_VERSION, progressEveryMs: PROGRESS_EVERY_MS });
    await this.#forEachJob(node, running, (job, proofs) => job.renew(proofs));
    await this.#match();
  }

  /** A node has one socket: an older one of the same session is a leftover, one of another session a dead process. */
  async #replaceOlder(nodeId: string, session: string): Promise<void> {
    for (const older of [...this.#nodes.values()].filter((node) => node.nodeId === nodeId)) {
      older.socket.close(NORMAL, "replaced by a newer connection");
      if (older.session === session) this.#nodes.delete(older.socket);
      else await this.#lose(older.socket);
    }
  }

  /** The jobs of a lost connection shorten their leases; the leases themselves end by time. */
  async #lose(socket: WebSocket): Promise<void> {
    const node = this.#nodes.get(socket);
    if (!node) return;
    this.#nodes.delete(socket);
    const jobs = new Set(node.leases.flatMap((lease) => parseLeaseId(lease)?.job ?? []));
    await Promise.all(
      [...jobs].map((id) =>
        this.#ask(id, (job) => job.suspect(node.session)).catch(() => log.warn("Suspect not told", { job: id })),
      ),
    );
  }

  /** Tells each job its part of what a node says; the node is told to drop what the jobs no longer want. */
  async #forEachJob<Item extends LeaseProof>(
    node: SocketNode,
    items: readonly Item[],
    tell: (job: ReturnType<typeof jobOf>, items: Item[]) => Promise<LeaseId[]>,
  ): Promise<void> {
    const ids = new Set(items.map(({ lease }) => parseLeaseId(lease)?.job ?? ""));
    await Promise.all(
      [...ids].map(async (id) => {
        const own = items.filter(({ lease }) => parseLeaseId(lease)?.job === id);
        for (const lease of await this.#ask(id, (job) => tell(job, own))) this.#send(node, { type: "cancel", lease });
      }),
    );
  }

  /** Makes offers until no ticket fits a free slot. Slots and tickets are taken before the job is asked. */
  async #match(): Promise<void> {
    const now = Date.now();
    for (const ticket of [...this.#tickets.values()].filter((candidate) => isStale(candidate, now))) {
      this.#putTicket({ ...ticket, count: 0 });
    }
    const offers: Promise<void>[] = [];
    for (;;) {
      const offer = choose([...this.#nodes.values()], this.#tickets.values(), now);
      if (!offer) break;
      this.#putTicket({ ...offer.ticket, count: offer.ticket.count - offer.slots });
      this.#grant(offer.node, offer, -offer.slots);
      offers.push(this.#claim(offer));
    }
    const opening = nextOpening(this.#tickets.values(), now);
    if (opening !== null) await this.ctx.storage.setAlarm(opening);
    await Promise.all(offers);
  }

  async #claim(offer: Offer<SocketNode>): Promise<void> {
    const { ticket, node, slots } = offer;
    try {
      const claim = await this.#ask(ticket.jobId, (job) =>
        job.claim(node.nodeId, node.session, ticket.slotClass, slots),
      );
      for (const assignment of claim) this.#send(node, { type: "assign", assignment });
      this.#update(node, { leases: [...node.leases, ...claim.map(({ lease }) => lease)] });
      if (claim.length < slots) this.#grant(node, offer, slots - claim.length);
    } catch (error) {
      log.warn("Claim failed", { job: ticket.jobId, error: messageOf(error) });
      this.#grant(node, offer, slots);
      this.#putTicket({ ...ticket, openAt: Date.now() + CLAIM_RETRY_MS, prefer: null });
      await this.ctx.storage.setAlarm(Date.now() + CLAIM_RETRY_MS);
    }
  }

  /** One call to a job. A stub that threw is broken, so each call takes a new one. */
  async #ask<Value>(id: string, call: (job: ReturnType<typeof jobOf>) => Promise<Value>): Promise<Value> {
    return call(jobOf(this.env, id));
  }

  #grant(node: SocketNode, { ticket }: Offer<SocketNode>, slots: number): void {
    this.#update(node, { free: { ...node.free, [ticket.slotClass]: node.free[ticket.slotClass] + slots } });
  }

  #update(node: SocketNode, patch: Partial<ConnectedNode>): void {
    Object.assign(node, patch);
    const { socket, ...attachment } = node;
    if (this.#nodes.get(socket) === node) socket.serializeAttachment(attachment);
  }

  #putTicket(ticket: Ticket): void {
    const key = ticketKey(ticket);
    if (ticket.count > 0) {
      this.#tickets.set(key, ticket);
      this.ctx.storage.kv.put(TICKETS + key, ticket);
    } else if (this.#tickets.delete(key)) {
      this.ctx.storage.kv.delete(TICKETS + key);
    }
  }

  /** Sends a frame; one that a closing socket swallows is made good by lease expiry. */
  #send(node: SocketNode, frame: HubFrame): void {
    try {
      node.socket.send(JSON.stringify(frame));
    } catch (error) {
      log.warn("Frame not sent", { node: node.nodeId, type: frame.type, error: messageOf(error) });
    }
  }
}
