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
} from "#shared/protocol/protocol.ts";
import { type Env, jobOf, log, settingsOf } from "../env.ts";
import { isLeaseToken, mayBeLease } from "../lease-token.ts";
import {
  Admission,
  MAX_SOCKETS_PER_TOKEN,
  POLICY_VIOLATION,
  type Refusal,
  SENT_AWAY,
  TOO_MANY_SOCKETS,
} from "./admission.ts";
import { choose, type Offer } from "./choose.ts";
import { addSlots, ConnectedNode, classOf, encodesOf, holding, Roster } from "./roster.ts";
import { TicketQueue } from "./ticket-queue.ts";
import { isStale, loadTickets, saveTickets, type TicketOffer } from "./tickets.ts";

/** A node whose socket is open. */
type SocketNode = ConnectedNode & { socket: WebSocket };

const PROGRESS_EVERY_MS = 1000;
/** A job that could not be asked is asked again after this long. */
const CLAIM_RETRY_MS = 1000;
/** Nodes ping every 15 s; one that was silent for so long has a dead connection, whatever the socket says. */
const SILENCE_LIMIT_MS = 45_000;
/** How often the silent are looked for, at the most: that looks at all nodes and tickets. */
const SWEEP_EVERY_MS = 15_000;
/** Tickets open to more nodes at times of their own; the alarm rings for those of a quarter of a second together. */
const ALARM_STEP_MS = 250;
/** WebSocket close codes (RFC 6455 §7.4.1). */
const GOING_AWAY = 1001;
const NORMAL = 1000;
/** Set by the Worker on what it hands to the hub: the id of the node token that it has checked. */
export const TOKEN_HEADER = "copra-node-token-id";

const NO_SLOTS = { inspect: 0, encode: 0 };
const leasesOf = (proofs: readonly LeaseProof[]): LeaseId[] => proofs.map(({ lease }) => lease);

export class NodeHub extends DurableObject<Env> {
  readonly #nodes = new Map<WebSocket, SocketNode>();
  readonly #roster = new Roster<SocketNode>();
  readonly #queue: TicketQueue;
  readonly #admission: Admission;
  #sweptAt = 0;
  #alarmAt = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
    for (const socket of ctx.getWebSockets()) {
      const node = ConnectedNode.safeParse(socket.deserializeAttachment());
      if (node.success) this.#remember({ ...node.data, socket });
    }
    this.#queue = new TicketQueue(loadTickets(ctx.storage.kv));
    this.#admission = new Admission(ctx.storage.kv);
  }

  /** Takes over a node's socket; the Worker has checked its token, whose id it names in the header TOKEN_HEADER. */
  override async fetch(request: Request): Promise<Response> {
    const { 0: client, 1: server } = new WebSocketPair();
    const token = request.headers.get(TOKEN_HEADER);
    if (token !== null && this.ctx.getWebSockets(token).length >= MAX_SOCKETS_PER_TOKEN) {
      server.accept();
      server.close(TOO_MANY_SOCKETS.code, TOO_MANY_SOCKETS.reason);
    } else this.ctx.acceptWebSocket(server, token === null ? [] : [token]);
    return new Response(null, { status: 101, webSocket: client });
  }

  /** A node token was revoked: the sockets that came with it are closed. */
  async revokeToken(id: string): Promise<void> {
    this.#admission.release(id);
    await Promise.all(this.ctx.getWebSockets(id).map((socket) => this.#dismiss(socket, "the token was revoked")));
  }

  /** A job tells how many tasks of a class wait; zero withdraws them. */
  async advertise(offer: TicketOffer): Promise<void> {
    this.#queue.put({ ...offer, advertisedAt: Date.now(), notBefore: 0 });
    await this.#match();
  }

  /** A job's leases have ended: the nodes that hold them, if they are connected, are told to drop them. */
  async revoke(leases: LeaseId[]): Promise<void> {
    for (const lease of leases) {
      const node = this.#roster.holder(lease);
      if (node) this.#send(node, { type: "cancel", lease });
    }
  }

  /** The control plane failed at the report of a lease. A node that this happens to again and again is sent away. */
  async faulted(lease: LeaseId): Promise<void> {
    const node = this.#roster.holder(lease);
    if (!node || !this.#admission.faulted(node.nodeId, Date.now())) return;
    log.error("Node sent away: its reports cause internal errors", { node: node.nodeId, lease });
    await this.#dismiss(node.socket, SENT_AWAY.reason, SENT_AWAY.code);
  }

  /** Encodes that the connected nodes can do at the same time, those that they do now included. */
  async capacity(): Promise<number> {
    const now = Date.now();
    const nodes = [...this.#roster.values()].filter((node) => !node.draining && this.#isAlive(node, now));
    return nodes.reduce((sum, node) => sum + encodesOf(node), 0);
  }

  async stats(): Promise<{ nodes: number; tickets: number }> {
    return { nodes: this.#nodes.size, tickets: this.#queue.size };
  }

  override async alarm(): Promise<void> {
    this.#alarmAt = 0;
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
    const node = this.#nodes.get(socket);
    if (frame.type === "hello") {
      // What is under way to it would be counted by neither: the next connection says what is true.
      return node ? this.#dismiss(socket, "hello comes once") : this.#welcome(socket, frame);
    }
    if (!node) return this.#dismiss(socket, "hello comes first");
    node.heardAt = Date.now();
    switch (frame.type) {
      case "slots": {
        const leases = node.leases.filter((lease) => !frame.released.includes(lease as LeaseId));
        this.#update(node, { free: addSlots({ free: node.free, leases }, frame.grant), leases });
        return this.#match();
      }
      case "progress":
        return this.#forEachJob(node, frame.items, (job, items) => job.progress(items));
      case "slow":
        if (node.leases.includes(frame.lease) && this.#queue.hasWaiting(classOf(frame.lease))) {
          this.#send(node, { type: "yield", lease: frame.lease });
        }
        return;
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
    const { nodeId, session, running } = hello;
    const now = Date.now();
    const older = this.#roster.get(nodeId);
    const refusal = this.#refusalOf(socket, nodeId, older !== null, now);
    if (refusal) return this.#dismiss(socket, refusal.reason, refusal.code);
    const replaced = older && this.#replace(older, session);
    const { sealingKeys } = settingsOf(this.env);
    // The others are asked for below: nobody is told of a job that there may never have been.
    const leases = running.filter((proof) => isLeaseToken(proof, sealingKeys)).map(({ lease }) => lease);
    const free = addSlots({ free: NO_SLOTS, leases }, hello.slots);
    const accounts = older?.accounts ?? {};
    const node = { nodeId, session, free, leases, accounts, draining: false, heardAt: now, socket };
    this.#remember(node);
    this.#update(node, {});
    this.#send(node, { type: "welcome", protocol: PROTOCOL_VERSION, progressEveryMs: PROGRESS_EVERY_MS });
    await Promise.all([replaced, this.#match(), this.#renewAll(node, running)]);
  }

  /** Why a node is not let in; null: it is. */
  #refusalOf(socket: WebSocket, nodeId: string, isConnected: boolean, now: number): Refusal | null {
    const [token = ""] = this.ctx.getTags(socket);
    return this.#admission.refusalOf(nodeId, token, isConnected, now);
  }

  /** A node says what it works on: the jobs renew the leases, and say whose they are. */
  async #renewAll(node: SocketNode, running: readonly LeaseProof[]): Promise<void> {
    const listed = new Set(node.leases);
    await this.#forEachJob(node, running, async (job, proofs) => {
      const { accountId, dropped } = await job.renew(proofs);
      const good = leasesOf(proofs).filter((lease) => !dropped.includes(lease));
      const given = good.filter((lease) => !listed.has(lease)).map((lease) => ({ lease }));
      const [jobId] = good.map((lease) => parseLeaseId(lease)?.job ?? "");
      if (jobId !== undefined) this.#update(node, holding(node, given, { jobId, accountId: accountId ?? "" }));
      return dropped;
    });
  }

  /** A node has one socket: an older one of the same session is a leftover, one of another session a dead process. */
  async #replace(older: SocketNode, session: string): Promise<void> {
    this.#forget(older.socket);
    older.socket.close(NORMAL, "replaced by a newer connection");
    if (older.session !== session) await this.#suspect(older);
  }

  /** Sends away who does not speak the protocol, or not at all. */
  async #dismiss(socket: WebSocket, reason: string, code = POLICY_VIOLATION): Promise<void> {
    const lost = this.#lose(socket);
    socket.close(code, reason);
    await lost;
  }

  async #lose(socket: WebSocket): Promise<void> {
    const node = this.#nodes.get(socket);
    this.#forget(socket);
    if (node) await this.#suspect(node);
  }

  #remember(node: SocketNode): void {
    this.#nodes.set(node.socket, node);
    this.#roster.add(node);
  }

  /** A socket that is closing is still listed by the runtime: without an attachment nobody takes it for a node again. */
  #forget(socket: WebSocket): void {
    const node = this.#nodes.get(socket);
    this.#nodes.delete(socket);
    if (node) this.#roster.remove(node);
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
    const byJob = Map.groupBy(items, ({ lease }) => parseLeaseId(lease)?.job ?? "");
    await Promise.all(
      [...byJob].map(async ([id, own]) => {
        const dropped = (await this.#mayBe(node, own)) ? await this.#tell(id, (job) => tell(job, own)) : leasesOf(own);
        for (const lease of dropped ?? []) this.#send(node, { type: "cancel", lease });
      }),
    );
  }

  /** Whether there can be a job that these leases are of: the hub gave the node one of them, or its token says so. */
  async #mayBe({ leases }: SocketNode, proofs: readonly LeaseProof[]): Promise<boolean> {
    if (proofs.some(({ lease }) => leases.includes(lease))) return true;
    try {
      return (await Promise.all(proofs.map((proof) => mayBeLease(proof, this.env)))).includes(true);
    } catch (error) {
      log.warn("Index could not be asked for a job", { error: messageOf(error) });
      return true;
    }
  }

  /** Makes offers until no ticket fits a free slot. Slots and tickets are taken before the job is asked. */
  async #match(): Promise<void> {
    const now = Date.now();
    const under = this.#sweep(now);
    for (;;) {
      const { offer, lookAt } = choose(this.#roster, this.#queue, now);
      if (lookAt !== null) this.#wakeAt(Math.min(lookAt, now + SWEEP_EVERY_MS));
      if (!offer) break;
      this.#queue.take(offer.ticket, offer.slots);
      this.#grant(offer.node, offer, -offer.slots);
      under.push(this.#claim(offer));
    }
    // In the turn in which they were told of; those that are given at once never reach the disk.
    saveTickets(this.ctx.storage.kv, this.#queue.takeChanges());
    await Promise.all(under);
  }

  /** Lets go of nodes that are silent and of tickets that nobody has told of again. */
  #sweep(now: number): Promise<void>[] {
    if (now < this.#sweptAt + SWEEP_EVERY_MS) return [];
    this.#sweptAt = now;
    for (const ticket of [...this.#queue.values()].filter((old) => isStale(old, now))) {
      this.#queue.put({ ...ticket, count: 0 });
    }
    const silent = [...this.#roster.values()].filter((node) => !this.#isAlive(node, now));
    return silent.map(({ socket }) => this.#dismiss(socket, "silent for too long", GOING_AWAY));
  }

  #wakeAt(at: number): void {
    const step = Math.ceil(at / ALARM_STEP_MS) * ALARM_STEP_MS;
    if (this.#alarmAt > Date.now() && this.#alarmAt <= step) return;
    this.#alarmAt = step;
    // Not awaited: the write joins those of this turn.
    void this.ctx.storage.setAlarm(step);
  }

  #isAlive({ socket, heardAt }: SocketNode, now: number): boolean {
    const pongAt = this.ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0;
    return Math.max(heardAt, pongAt) > now - SILENCE_LIMIT_MS;
  }

  async #claim(offer: Offer<SocketNode>): Promise<void> {
    const { ticket, node, slots } = offer;
    const { jobId, slotClass, accountId } = ticket;
    this.#roster.promise(slotClass, accountId, slots);
    const claimed = await this.#tell(jobId, (job) => job.claim(node.nodeId, node.session, slotClass, slots));
    for (const assignment of claimed ?? []) this.#send(node, { type: "assign", assignment });
    this.#roster.promise(slotClass, accountId, -slots);
    this.#update(node, holding(node, claimed ?? [], ticket));
    if (!claimed) this.#queue.giveBack(ticket, slots, Date.now() + CLAIM_RETRY_MS);
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
    this.#roster.change(node, patch);
    const { socket, ...attachment } = node;
    if (this.#nodes.get(socket) === node) socket.serializeAttachment(attachment);
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
