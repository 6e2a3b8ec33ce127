// The object that holds the nodes' sockets and the jobs' tickets. It decides nothing for a job: if the hub is lost,
// jobs advertise their tasks again.
import { DurableObject } from "cloudflare:workers";
import type { NodeDetails } from "#shared/api/node-responses.ts";
import type { LeaseId } from "#shared/ids.ts";
import { messageOf } from "#shared/log.ts";
import type { CommandReport } from "#shared/protocol/commands.ts";
import { decodeNodeFrame } from "#shared/protocol/frames.ts";
import type { HubEnv } from "../bindings.ts";
import { log } from "../log.ts";
import {
  ADMITTED_HEADER,
  type Advertised,
  type HubRpc,
  type LeaseHolder,
  type LeaseHolding,
  type TicketOffer,
} from "../rpc/hub.ts";
import type { HubReport, NodeReport, NodeSteps, Place } from "../rpc/hub-reports.ts";
import type { SeenProgress } from "../rpc/turn.ts";
import {
  Admission,
  type CloseReason,
  MAX_SOCKETS_PER_TOKEN,
  REVOKED,
  TOO_MANY_FAILURES,
  TOO_MANY_SOCKETS,
} from "./admission/admission.ts";
import { Admitted } from "./connections/node-about.ts";
import { NodeConnections } from "./connections/node-connections.ts";
import { JobCalls } from "./jobs/job-calls.ts";
import { Matcher } from "./jobs/matcher.ts";
import { RunningCommands } from "./jobs/running-commands.ts";
import { encodesOf, holdingOf } from "./matching/nodes/connected-node.ts";
import { NodeFrames, violation } from "./node-frames.ts";
import { Operator } from "./operator/operator.ts";

/** Reads the facts that the Worker states about a node. */
const admittedBy = (headers: Headers): Admitted => Admitted.parse(JSON.parse(headers.get(ADMITTED_HEADER) ?? "null"));

/** rpc/hub.ts describes the calls. */
export class NodeHub extends DurableObject<HubEnv> implements HubRpc {
  readonly #nodes: NodeConnections;
  readonly #jobs: JobCalls;
  readonly #matcher: Matcher;
  readonly #admission: Admission;
  readonly #frames: NodeFrames;
  readonly #operator: Operator;
  readonly #running: RunningCommands;

  constructor(ctx: DurableObjectState, env: HubEnv) {
    super(ctx, env);
    this.#nodes = new NodeConnections(ctx);
    this.#jobs = new JobCalls(env, this.#nodes);
    const disconnect = (socket: WebSocket, reason: CloseReason) => this.#frames.disconnect(socket, reason);
    this.#matcher = new Matcher(ctx.storage, { nodes: this.#nodes, jobs: this.#jobs, disconnect });
    this.#admission = new Admission(ctx.storage.kv);
    this.#operator = new Operator({ kv: ctx.storage.kv, nodes: this.#nodes, matcher: this.#matcher });
    this.#running = new RunningCommands(this.#nodes);
    this.#frames = new NodeFrames(env, {
      nodes: this.#nodes,
      jobs: this.#jobs,
      matcher: this.#matcher,
      admission: this.#admission,
      operator: this.#operator,
      running: this.#running,
    });
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
      this.#frames.accept(server, admitted, now);
    }
    return new Response(null, { status: 101, webSocket: client });
  }

  #rejectionOf(token: string, now: number): CloseReason | null {
    if (this.#admission.isRevoked(token, now)) return REVOKED;
    return this.ctx.getWebSockets(token).length >= MAX_SOCKETS_PER_TOKEN ? TOO_MANY_SOCKETS : null;
  }

  async revokeToken(id: string): Promise<void> {
    this.#admission.revoke(id, Date.now());
    await Promise.all(this.ctx.getWebSockets(id).map((socket) => this.#frames.disconnect(socket, REVOKED)));
  }

  async advertise(offers: TicketOffer[]): Promise<Advertised> {
    return this.#matcher.advertise(offers);
  }

  async holders(leases: LeaseHolder[]): Promise<LeaseHolding[]> {
    // A report returns the slot before its job has the report.
    return leases.map((holder) =>
      this.#jobs.isReporting(holder.lease) ? "held" : holdingOf(this.#nodes.roster.get(holder.nodeId), holder),
    );
  }

  async revoke(leases: LeaseId[]): Promise<void> {
    for (const lease of leases) {
      const node = this.#nodes.roster.holder(lease);
      if (node) this.#nodes.send(node, { type: "cancel", lease });
    }
  }

  async watch(jobId: string, leases: LeaseId[], until: number): Promise<SeenProgress[]> {
    return this.#jobs.watch(jobId, leases, until);
  }

  async reportFailed(lease: LeaseId): Promise<void> {
    const node = this.#nodes.roster.holder(lease);
    if (!node || !this.#admission.countFailure(node.nodeId, Date.now())) return;
    log.error("node disconnected after internal errors", { node: node.nodeId, lease });
    await this.#frames.disconnect(node.socket, TOO_MANY_FAILURES);
  }

  async capacity(): Promise<number> {
    const now = Date.now();
    const { roster } = this.#nodes;
    const nodes = [...roster.values()].filter(
      (node) => roster.acceptingNode(node.nodeId) && this.#nodes.isAlive(node, now),
    );
    // A claim of the asking job may hold a slot.
    const encodes = nodes.map((node) => encodesOf({ ...node, free: roster.offeredBy(node) }));
    return encodes.reduce((sum, count) => sum + count, this.#frames.absentEncodes(now));
  }

  async place(jobId: string): Promise<Place | null> {
    return this.#matcher.matching.place(jobId, Date.now());
  }

  async running(leases: LeaseId[]): Promise<CommandReport[][]> {
    return this.#running.of(leases);
  }

  async nodes(): Promise<NodeReport[]> {
    return this.#operator.nodes();
  }

  async node(id: string): Promise<NodeDetails | null> {
    return this.#operator.node(id);
  }

  async history(id: string): Promise<NodeSteps | null> {
    return this.#operator.history(id);
  }

  async cordon(id: string, isCordoned: boolean): Promise<NodeDetails | null> {
    return this.#operator.cordon(id, isCordoned);
  }

  async drain(id: string): Promise<NodeDetails | null> {
    return this.#operator.drain(id);
  }

  async forget(id: string): Promise<NodeDetails | null> {
    return this.#operator.forget(id);
  }

  async demand(): Promise<HubReport> {
    return this.#operator.demand();
  }

  async stats(): Promise<{ nodes: number; tickets: number }> {
    return { nodes: this.#nodes.size, tickets: this.#matcher.matching.waiting };
  }

  override async alarm(): Promise<void> {
    await this.#matcher.ring();
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    const decoded = decodeNodeFrame(typeof message === "string" ? message : "");
    if (!decoded.ok) {
      log.warn("node frame not valid", { ...decoded.error });
      await this.#frames.disconnect(socket, violation(decoded.error.reason));
      return;
    }
    const frame = decoded.value;
    log.debug("frame received", { node: this.#nodes.get(socket)?.nodeId, type: frame.type });
    try {
      await this.#frames.handle(socket, frame);
    } catch (error) {
      log.error("node frame failed", { type: frame.type, error: messageOf(error) });
    }
  }

  override async webSocketClose(socket: WebSocket): Promise<void> {
    await this.#frames.lose(socket);
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    await this.#frames.lose(socket);
  }
}
