// The object that holds the nodes' sockets and the jobs' tickets. It decides nothing for a job: if it is lost, jobs
// advertise their tasks again.
import { DurableObject } from "cloudflare:workers";
import { assertNever } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import { messageOf } from "#shared/log.ts";
import {
  decodeNodeFrame,
  type NodeFrame,
  type NodeFrameOf,
  PREVIOUS_PROTOCOL_VERSION,
  PROTOCOL_VERSION,
  type ProgressItem,
} from "#shared/protocol/frames.ts";
import { profileOf } from "#shared/protocol/requirements.ts";
import type { HubEnv } from "../bindings.ts";
import { isLeaseToken } from "../crypto/lease-token.ts";
import { log } from "../log.ts";
import { ADMITTED_HEADER, type Advertised, FIRST_HUB, type HubRpc, type SentOffer, TOKEN_HEADER } from "../rpc/hub.ts";
import type { HubReport, NodeDetail, NodeReport } from "../rpc/hub-reports.ts";
import { reservedShareOf, sealingKeysOf } from "../settings.ts";
import {
  Admission,
  type CloseReason,
  MAX_SOCKETS_PER_TOKEN,
  POLICY_VIOLATION,
  REVOKED,
  TOO_MANY_FAILURES,
  TOO_MANY_SOCKETS,
} from "./admission.ts";
import { JobCalls } from "./job-calls.ts";
import { Matcher } from "./matcher.ts";
import { addSlots, encodesOf, type HeldLeases } from "./matching/roster.ts";
import { Admitted, aboutNode, contradictionOf } from "./node-about.ts";
import { HELLO_LIMIT_MS, NodeConnections, type SocketNode } from "./node-connections.ts";
import { Operator } from "./operator/operator.ts";
import { PROGRESS_EVERY_MS } from "./progress-relay.ts";
import { Sessions } from "./sessions.ts";

/** WebSocket close code (RFC 6455 §7.4.1). */
const NORMAL = 1000;

const NO_SLOTS = { inspect: 0, encode: 0 };
const NO_HELLO: CloseReason = { code: POLICY_VIOLATION, reason: "no hello within 15 seconds" };
const violation = (reason: string): CloseReason => ({ code: POLICY_VIOLATION, reason });

/** What the Worker states of a node; that of the previous release states only its token. */
function admittedBy(headers: Headers): Admitted {
  const stated = headers.get(ADMITTED_HEADER);
  return Admitted.parse(stated === null ? { token: headers.get(TOKEN_HEADER) } : JSON.parse(stated));
}

/** rpc/hub.ts describes the calls. */
export class NodeHub extends DurableObject<HubEnv> implements HubRpc {
  readonly #nodes: NodeConnections;
  readonly #jobs: JobCalls;
  readonly #matcher: Matcher;
  readonly #admission: Admission;
  readonly #sessions: Sessions;
  readonly #operator: Operator;
  #helloTimer: number | null = null;

  constructor(ctx: DurableObjectState, env: HubEnv) {
    super(ctx, env);
    this.#nodes = new NodeConnections(ctx);
    const hub = ctx.id.name ?? FIRST_HUB;
    this.#jobs = new JobCalls(env, this.#nodes, hub);
    const disconnect = (socket: WebSocket, reason: CloseReason) => this.#disconnect(socket, reason);
    const config = { reservedShare: reservedShareOf(env) };
    this.#matcher = new Matcher(ctx.storage, { nodes: this.#nodes, jobs: this.#jobs, config, disconnect });
    this.#admission = new Admission(ctx.storage.kv);
    this.#sessions = new Sessions(env, this.#nodes);
    this.#operator = new Operator({ kv: ctx.storage.kv, nodes: this.#nodes, matcher: this.#matcher, hub });
  }

  override async fetch(request: Request): Promise<Response> {
    const now = Date.now();
    const { 0: client, 1: server } = new WebSocketPair();
    const admitted = admittedBy(request.headers);
    const rejection = this.#rejectionOf(admitted.token, now);
    if (rejection) {
      server.accept();
      server.close(rejection.code, rejection.reason);
    } else {
      this.#nodes.accept(server, admitted, now);
      this.#closeOverdue(now);
    }
    return new Response(null, { status: 101, webSocket: client });
  }

  #rejectionOf(token: string, now: number): CloseReason | null {
    if (this.#admission.isRevoked(token, now)) return REVOKED;
    return this.ctx.getWebSockets(token).length >= MAX_SOCKETS_PER_TOKEN ? TOO_MANY_SOCKETS : null;
  }

  /** Closes the sockets whose nodes have not sent hello in time, and looks again while others wait. */
  #closeOverdue(now: number): void {
    clearTimeout(this.#helloTimer);
    for (const socket of this.#nodes.overdue(now)) void this.#disconnect(socket, NO_HELLO);
    // No alarm, which is a row: a hub without memory of the timer does this when the next node connects.
    if (this.#nodes.isAwaitingHello)
      this.#helloTimer = setTimeout(() => this.#closeOverdue(Date.now()), HELLO_LIMIT_MS);
  }

  async revokeToken(id: string): Promise<void> {
    this.#admission.revoke(id, Date.now());
    await Promise.all(this.ctx.getWebSockets(id).map((socket) => this.#disconnect(socket, REVOKED)));
  }

  async advertise(offers: SentOffer[]): Promise<Advertised> {
    return this.#matcher.advertise(offers);
  }

  async revoke(leases: LeaseId[]): Promise<void> {
    for (const lease of leases) {
      const node = this.#nodes.roster.holder(lease);
      if (node) this.#nodes.send(node, { type: "cancel", lease });
    }
  }

  async watch(jobId: string, leases: LeaseId[], until: number): Promise<ProgressItem[]> {
    return this.#jobs.watch(jobId, leases, until);
  }

  async reportFailed(lease: LeaseId): Promise<void> {
    const node = this.#nodes.roster.holder(lease);
    if (!node || !this.#admission.countFailure(node.nodeId, Date.now())) return;
    log.error("node disconnected after internal errors", { node: node.nodeId, lease });
    await this.#disconnect(node.socket, TOO_MANY_FAILURES);
  }

  async capacity(): Promise<number> {
    const now = Date.now();
    const nodes = [...this.#nodes.roster.values()].filter((node) => !node.draining && this.#nodes.isAlive(node, now));
    return nodes.reduce((sum, node) => sum + encodesOf(node), 0);
  }

  async nodes(): Promise<NodeReport[]> {
    return this.#operator.nodes();
  }

  async node(id: string): Promise<NodeDetail | null> {
    return this.#operator.node(id);
  }

  async cordon(id: string, isCordoned: boolean): Promise<NodeDetail | null> {
    return this.#operator.cordon(id, isCordoned);
  }

  async drain(id: string): Promise<NodeDetail | null> {
    return this.#operator.drain(id);
  }

  async demand(hubs: string): Promise<HubReport> {
    return this.#operator.demand(hubs);
  }

  async stats(): Promise<{ nodes: number; tickets: number }> {
    return { nodes: this.#nodes.size, tickets: this.#matcher.waiting };
  }

  override async alarm(): Promise<void> {
    await this.#matcher.ring();
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    const decoded = decodeNodeFrame(typeof message === "string" ? message : "");
    if (!decoded.ok) {
      log.warn("node frame not valid", { ...decoded.error });
      if (decoded.error.reason === "invalid") await this.#disconnect(socket, violation("invalid frame"));
      return;
    }
    const frame = decoded.value;
    log.debug("frame received", { node: this.#nodes.get(socket)?.nodeId, type: frame.type });
    try {
      await this.#handle(socket, frame);
    } catch (error) {
      log.error("node frame failed", { type: frame.type, error: messageOf(error) });
    }
  }

  override async webSocketClose(socket: WebSocket): Promise<void> {
    await this.#lose(socket);
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    await this.#lose(socket);
  }

  async #handle(socket: WebSocket, frame: NodeFrame): Promise<void> {
    const node = this.#nodes.get(socket);
    if (frame.type === "hello") {
      // A second one would not count assignments that are on their way: the node must reconnect.
      return node ? this.#disconnect(socket, violation("hello is sent once")) : this.#welcome(socket, frame);
    }
    if (!node) return this.#disconnect(socket, violation("hello must be the first frame"));
    node.heardAt = Date.now();
    this.#sessions.renew(node, node.heardAt);
    switch (frame.type) {
      case "slots": {
        const released: ReadonlySet<string> = new Set(frame.released);
        this.#jobs.released(frame.released);
        if (frame.outcome) this.#matcher.ending(frame.released, frame.outcome);
        const held = Object.entries(node.leases).filter(([lease]) => !released.has(lease));
        const leases: HeldLeases = Object.fromEntries(held);
        const about = frame.disk ? { ...node.about, disk: frame.disk } : node.about;
        this.#nodes.update(node, { free: addSlots({ free: node.free, leases }, frame.offered), leases, about });
        return this.#matcher.match();
      }
      case "progress":
        await Promise.all([this.#jobs.progress(node, frame.items), this.#matcher.sweep()]);
        return;
      case "slow": {
        const slotClass = node.leases[frame.lease];
        if (slotClass && this.#matcher.hasWaiting(slotClass)) {
          this.#nodes.send(node, { type: "yield", lease: frame.lease });
        }
        return;
      }
      case "bye":
        return this.#nodes.update(node, { free: NO_SLOTS, draining: true });
      default:
        return assertNever(frame);
    }
  }

  async #welcome(socket: WebSocket, hello: NodeFrameOf<"hello">): Promise<void> {
    if (hello.protocol !== PROTOCOL_VERSION && hello.protocol !== PREVIOUS_PROTOCOL_VERSION) {
      return this.#disconnect(socket, violation(`protocol ${PROTOCOL_VERSION} is required: update this node`));
    }
    const { nodeId, session, running } = hello;
    const now = Date.now();
    const older = this.#nodes.roster.get(nodeId);
    const admitted = this.#nodes.admittedOf(socket);
    const rejection =
      contradictionOf(admitted, hello) ??
      this.#admission.rejectionOf({ nodeId, token: admitted.token, isConnected: older !== null }, now);
    if (rejection) return this.#disconnect(socket, rejection);
    const replaced = older && this.#replace(older, session);
    const valid = running.filter((proof) => isLeaseToken(proof, sealingKeysOf(this.env)));
    const leases: HeldLeases = Object.fromEntries(valid.map(({ lease, slotClass }) => [lease, slotClass]));
    const free = addSlots({ free: NO_SLOTS, leases }, hello.slots);
    const accounts = older?.accounts ?? {};
    const about = aboutNode(admitted, hello, this.#nodes.keepCapabilities(hello.capabilities), now);
    const profile = profileOf({ ...about, pool: admitted.pool }, hello.capabilities);
    const node = { nodeId, session, free, leases, accounts, draining: false, heardAt: now, profile, about, socket };
    this.#nodes.add(node);
    if (!this.#nodes.isAwaitingHello) clearTimeout(this.#helloTimer);
    this.#nodes.send(node, {
      type: "welcome",
      protocol: hello.protocol,
      progressEveryMs: PROGRESS_EVERY_MS,
      ...this.#sessions.first(node, now),
    });
    this.#operator.welcomed(node);
    await Promise.all([replaced, this.#matcher.match(), this.#jobs.running(node, running)]);
  }

  /**
   * A node has one socket: an older one of the same session is a leftover, one of another session is of a dead process.
   */
  async #replace(older: SocketNode, session: string): Promise<void> {
    this.#nodes.remove(older.socket);
    older.socket.close(NORMAL, "replaced by a newer connection");
    if (older.session !== session) await this.#jobs.lost(older, true);
  }

  async #disconnect(socket: WebSocket, { code, reason }: CloseReason): Promise<void> {
    const lost = this.#lose(socket);
    socket.close(code, reason);
    await lost;
  }

  async #lose(socket: WebSocket): Promise<void> {
    const node = this.#nodes.remove(socket);
    if (node) await this.#jobs.lost(node);
  }
}
