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

/** A node whose socket is open; `heardAt` is when it last said something itself, in ms since 1970. */
type SocketNode = ConnectedNode & { socket: WebSocket; heardAt: number };

const PROGRESS_EVERY_MS = 1000;
/** A job that could not be asked is asked again after this long. */
const CLAIM_RETRY_MS = 1000;
/** Nodes ping every 15 s; one that was silent for so long has a dead connection, whatever the socket says. */
const SILENCE_LIMIT_MS = 45_000;
/** WebSocket close codes (RFC 6455 §7.4.1). */
const POLICY_VIOLATION = 1008;
const NORMAL = 1000;
const TICKETS = "ticket:";

/** By the name of its task (job-state.ts, newTask). */
const isEncode = (lease: string): boolean => !/^inspect\b/.test(parseLeaseId(lease)?.task ?? "inspect");

export class NodeHub extends DurableObject<Env> {
  #nodes = new Map<WebSocket, SocketNode>();
  #tickets = new Map<string, Ticket>();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
    for (const socket of ctx.getWebSockets()) {
      const node = ConnectedNode.safeParse(socket.deserializeAttachment());
      if (node.success) this.#nodes.set(socket, { ...node.data, socket, heardAt: Date.now() });
    }
    for (const [key, value] of ctx.storage.kv.list({ prefix: TICKETS })) {
      // One of an older shape is as good as lost: its job advertises again.
      const ticket = Ticket.safeParse(value);
      if (ticket.success) this.#tickets.set(key.slice(TICKETS.length), ticket.data);
      else ctx.storage.kv.delete(key);
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
    this.#putTicket({ ...offer, advertisedAt: Date.now(), notBefore: 0 });
    await this.#match();
  }

  /** A job's leases have ended: the nodes that hold them, if they are connected, are told to drop them. */
  async revoke(leases: LeaseId[]): Promise<void> {
    for (const node of this.#nodes.values()) {
      for (const lease of leases.filter((ended) => node.leases.includes(ended))) {
        this.#send(node, { type: "cancel", lease });
      }
    }
  }

  /** Encodes that the connected nodes can do at the same time, those that they do now included. */
  async capacity(): Promise<number> {
    const now = Date.now();
    const nodes = [...this.#nodes.values()].filter((node) => !node.draining && this.#isAlive(node, now));
    return nodes.reduce((sum, { free, leases }) => sum + free.encode + leases.filter(isEncode).length, 0);
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
      if (decoded.reason === "invalid") await this.#dismiss(socket, "invalid frame");
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
    if (!node) return this.#dismiss(socket, "hello comes first");
    node.heardAt = Date.now();
    switch (frame.type) {
      case "slots": {
        const leases = node.leases.filter((lease) => !frame.released.includes(lease as LeaseId));
        this.#update(node, { free: addSlots(node.free, frame.grant), leases });
        return this.#match();
      }
      case "progress":
        return this.#forEachJob(node, frame.items, (job, items) => job.progress(items));
      case "bye":
        return this.#update(node, { free: { inspect: 0, encode: 0 }, draining: true });
      default:
        return assertNever(frame);
    }
  }

  async #welcome(socket: WebSocket, hello: NodeFrameOf<"hello">): Promise<void> {
    if (hello.protocol !== PROTOCOL_VERSION) {
      return this.#dismiss(socket, `protocol ${PROTOCOL_VERSION} is spoken here: update this node`);
    }
    const { nodeId, session, capabilities, slots: free, running } = hello;
    await this.#replaceOlder(nodeId, session, socket);
    const leases = running.map(({ lease }) => lease);
    const node = { nodeId, session, capabilities, free, leases, draining: false, socket, heardAt: Date.now() };
    this.#nodes.set(socket, node);
    this.#update(node, {});
    this.#send(node, { type: "welcome", protocol: PROTOCOL_VERSION, progressEveryMs: PROGRESS_EVERY_MS });
    await Promise.all([this.#match(), this.#forEachJob(node, running, (job, proofs) => job.renew(proofs))]);
  }

  /** A node has one socket: an older one of the same session is a leftover, one of another session a dead process. */
  async #replaceOlder(nodeId: string, session: string, socket: WebSocket): Promise<void> {
    for (const older of [...this.#nodes.values()].filter((node) => node.nodeId === nodeId && node.socket !== socket)) {
      this.#forget(older.socket);
      older.socket.close(NORMAL, "replaced by a newer connection");
      if (older.session !== session) await this.#suspect(older);
    }
  }

  /** Sends away who does not speak the protocol. */
  async #dismiss(socket: WebSocket, reason: string): Promise<void> {
    await this.#lose(socket);
    socket.close(POLICY_VIOLATION, reason);
  }

  async #lose(socket: WebSocket): Promise<void> {
    const node = this.#nodes.get(socket);
    this.#forget(socket);
    if (node) await this.#suspect(node);
  }

  /** A socket that is closing is still listed by the runtime: without an attachment nobody takes it for a node again. */
  #forget(socket: WebSocket): void {
    this.#nodes.delete(socket);
    socket.serializeAttachment(null);
  }

  /** The jobs of a lost connection shorten their leases; the leases themselves end by time. */
  async #suspect({ leases, session }: SocketNode): Promise<void> {
    const jobs = new Set(leases.flatMap((lease) => parseLeaseId(lease)?.job ?? []));
    await Promise.all([...jobs].map((id) => this.#tell(id, (job) => job.suspect(session))));
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
        const dropped = await this.#tell(id, (job) => tell(job, own));
        for (const lease of dropped ?? []) this.#send(node, { type: "cancel", lease });
      }),
    );
  }

  /** Makes offers until no ticket fits a free slot. Slots and tickets are taken before the job is asked. */
  async #match(): Promise<void> {
    const now = Date.now();
    for (const ticket of this.#tickets.values()) {
      if (isStale(ticket, now)) this.#putTicket({ ...ticket, count: 0 });
    }
    const nodes = [...this.#nodes.values()].filter((node) => this.#isAlive(node, now));
    const offers: Promise<void>[] = [];
    for (;;) {
      const offer = choose(nodes, this.#tickets.values(), now);
      if (!offer) break;
      this.#putTicket({ ...offer.ticket, count: offer.ticket.count - offer.slots });
      this.#grant(offer.node, offer, -offer.slots);
      offers.push(this.#claim(offer));
    }
    const opening = nextOpening(this.#tickets.values(), now);
    if (opening !== null) await this.ctx.storage.setAlarm(opening);
    await Promise.all(offers);
  }

  #isAlive({ socket, heardAt }: SocketNode, now: number): boolean {
    const pongAt = this.ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0;
    return Math.max(heardAt, pongAt) > now - SILENCE_LIMIT_MS;
  }

  async #claim(offer: Offer<SocketNode>): Promise<void> {
    const { ticket, node, slots } = offer;
    const { jobId, slotClass } = ticket;
    const claimed = await this.#tell(jobId, (job) => job.claim(node.nodeId, node.session, slotClass, slots));
    for (const assignment of claimed ?? []) this.#send(node, { type: "assign", assignment });
    this.#update(node, { leases: [...node.leases, ...(claimed ?? []).map(({ lease }) => lease)] });
    // The job could not be asked: its ticket comes back, unless it told of itself anew meanwhile.
    if (!claimed && !this.#tickets.has(ticketKey(ticket))) {
      this.#putTicket({ ...ticket, notBefore: Date.now() + CLAIM_RETRY_MS });
    }
    const unused = slots - (claimed?.length ?? 0);
    if (unused === 0) return;
    this.#grant(node, offer, unused);
    await this.#match();
  }

  /** One call to a job, by a stub of its own, because one that threw is broken. Null when the job could not be asked. */
  async #tell<Value>(id: string, call: (job: ReturnType<typeof jobOf>) => Promise<Value>): Promise<Value | null> {
    try {
      return await call(jobOf(this.env, id));
    } catch (error) {
      log.warn("Job could not be asked", { job: id, error: messageOf(error) });
      return null;
    }
  }

  #grant(node: SocketNode, { ticket }: Offer<SocketNode>, slots: number): void {
    if (node.draining) return;
    this.#update(node, { free: { ...node.free, [ticket.slotClass]: node.free[ticket.slotClass] + slots } });
  }

  #update(node: SocketNode, patch: Partial<ConnectedNode>): void {
    Object.assign(node, patch);
    const { socket, heardAt: _heardAt, ...attachment } = node;
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
