// Handles the frames of nodes: connections, the changes of each frame, and the end of a connection.
import { assertNever } from "#shared/errors.ts";
import { type FreedSlots, NAME_IN_USE, type NodeFrame, type NodeFrameOf } from "#shared/protocol/frames.ts";
import { profileOf } from "#shared/protocol/requirements.ts";
import type { HubEnv } from "../bindings.ts";
import { isLeaseToken } from "../crypto/lease-token.ts";
import { sealingKeysOf } from "../settings.ts";
import { type Admission, type CloseReason, NAME_TAKEN, POLICY_VIOLATION } from "./admission/admission.ts";
import { AbsentNodes } from "./connections/absent-nodes.ts";
import { type Admitted, aboutNode, contradictionOf } from "./connections/node-about.ts";
import { HELLO_LIMIT_MS, type NodeConnections, type SocketNode } from "./connections/node-connections.ts";
import { noWork } from "./connections/node-history.ts";
import { PROGRESS_EVERY_MS } from "./connections/progress-relay.ts";
import { Sessions } from "./connections/sessions.ts";
import type { JobCalls } from "./jobs/job-calls.ts";
import type { Matcher } from "./jobs/matcher.ts";
import type { RunningCommands } from "./jobs/running-commands.ts";
import { addSlots, encodesOf, type HeldLeases } from "./matching/nodes/connected-node.ts";
import type { Operator } from "./operator/operator.ts";

/** WebSocket close code (RFC 6455 §7.4.1). */
const NORMAL = 1000;

const NO_SLOTS = { inspect: 0, encode: 0 };
const NO_HELLO: CloseReason = { code: POLICY_VIOLATION, reason: "no hello within 15 seconds" };
export const violation = (reason: string): CloseReason => ({ code: POLICY_VIOLATION, reason });

type Deps = {
  readonly nodes: NodeConnections;
  readonly jobs: JobCalls;
  readonly matcher: Matcher;
  readonly admission: Admission;
  readonly operator: Operator;
  readonly running: RunningCommands;
};

export class NodeFrames {
  readonly #env: Pick<HubEnv, "MASTER_SECRET" | "SEALING_KEYS">;
  readonly #nodes: NodeConnections;
  readonly #jobs: JobCalls;
  readonly #matcher: Matcher;
  readonly #admission: Admission;
  readonly #operator: Operator;
  readonly #running: RunningCommands;
  readonly #sessions: Sessions;
  readonly #absent = new AbsentNodes();
  #helloTimer: number | null = null;

  constructor(
    env: Pick<HubEnv, "MASTER_SECRET" | "SEALING_KEYS">,
    { nodes, jobs, matcher, admission, operator, running }: Deps,
  ) {
    this.#env = env;
    this.#nodes = nodes;
    this.#jobs = jobs;
    this.#matcher = matcher;
    this.#admission = admission;
    this.#operator = operator;
    this.#running = running;
    this.#sessions = new Sessions(env, nodes);
  }

  /** Accepts a socket. Its node must send hello in time. */
  accept(socket: WebSocket, admitted: Admitted, now: number): void {
    this.#nodes.accept(socket, admitted, now);
    this.#closeOverdue(now);
  }

  /** Closes the sockets whose nodes have not sent hello in time. Checks again later while other sockets wait. */
  #closeOverdue(now: number): void {
    clearTimeout(this.#helloTimer);
    for (const socket of this.#nodes.overdue(now)) void this.disconnect(socket, NO_HELLO);
    // A timer costs no row, unlike an alarm. A hub that lost the timer closes the sockets when the next node connects.
    if (this.#nodes.isAwaitingHello)
      this.#helloTimer = setTimeout(() => this.#closeOverdue(Date.now()), HELLO_LIMIT_MS);
  }

  /** Handles a frame of a node. */
  async handle(socket: WebSocket, frame: NodeFrame): Promise<void> {
    const node = this.#nodes.get(socket);
    if (frame.type === "hello") {
      // A second hello would not count assignments that are on their way: the node must reconnect.
      return node ? this.disconnect(socket, violation("hello is sent once")) : this.#welcome(socket, frame);
    }
    if (!node) return this.disconnect(socket, violation("hello must be the first frame"));
    node.heardAt = Date.now();
    this.#sessions.renew(node, node.heardAt);
    switch (frame.type) {
      case "slots":
        this.#free(node, frame);
        return this.#matcher.match();
      case "progress":
        await Promise.all([this.#jobs.progress(node, frame.items), this.#matcher.sweep()]);
        return;
      case "running":
        return this.#running.answered(node, frame);
      case "report":
        return this.#report(node, frame);
      case "bye":
        this.#nodes.update(node, { free: NO_SLOTS, draining: true });
        return this.#matcher.match();
      default:
        return assertNever(frame);
    }
  }

  /** Adds the freed slots of a node, and removes its ended leases. */
  #free(node: SocketNode, { offered, released, outcome, disk, notReady }: FreedSlots): void {
    const ended: ReadonlySet<string> = new Set(released);
    this.#jobs.released(released);
    if (outcome) this.#matcher.matching.tasks.ending(released, outcome);
    const leases: HeldLeases = Object.fromEntries(Object.entries(node.leases).filter(([lease]) => !ended.has(lease)));
    const about = { ...node.about, ...(disk && { disk }), ...(notReady && { notReady }) };
    this.#nodes.update(node, { free: addSlots({ free: node.free, leases }, offered), leases, about });
  }

  /** Passes a report on. The claims for the slot that the report frees go to the job in the same turn. */
  async #report(node: SocketNode, frame: NodeFrameOf<"report">): Promise<void> {
    const { lease, verb } = frame.report;
    const answered = this.#jobs.report(node, frame);
    if (frame.slots) this.#free(node, frame.slots);
    const matched = frame.slots ? this.#matcher.match() : verb === "complete" ? this.#matcher.inspected(lease) : null;
    await Promise.all([answered, matched]);
  }

  async #welcome(socket: WebSocket, hello: NodeFrameOf<"hello">): Promise<void> {
    const { nodeId, session, running } = hello;
    const now = Date.now();
    const older = this.#nodes.roster.get(nodeId);
    const admitted = this.#nodes.admittedOf(socket);
    if (!admitted) return this.disconnect(socket, NO_HELLO);
    const rejection =
      contradictionOf(admitted, hello) ??
      this.#admission.rejectionOf({ nodeId, token: admitted.token, isConnected: older !== null }, now);
    const isInUse = rejection === NAME_TAKEN || (older !== null && older.session !== session);
    if (hello.isNewName && isInUse) return this.disconnect(socket, violation(NAME_IN_USE));
    if (rejection) return this.disconnect(socket, rejection);
    const replaced = older && this.#replace(older, hello);
    // Other leases count once their job has confirmed them.
    const valid = running.filter((proof) => isLeaseToken(proof, sealingKeysOf(this.#env)));
    const leases: HeldLeases = Object.fromEntries(valid.map(({ lease, slotClass }) => [lease, slotClass]));
    const free = addSlots({ free: NO_SLOTS, leases }, hello.slots);
    const accounts = older?.accounts ?? {};
    const about = aboutNode(admitted, hello, this.#nodes.keepCapabilities(hello.capabilities), now);
    const profile = profileOf({ ...about, pool: admitted.pool }, hello.capabilities);
    const state = { free, leases, accounts, draining: false, heardAt: now, progress: [], work: noWork(now) };
    const node = { nodeId, session, profile, about, socket, ...state };
    this.#nodes.add(node);
    this.#absent.delete(nodeId);
    if (!this.#nodes.isAwaitingHello) clearTimeout(this.#helloTimer);
    this.#nodes.send(node, {
      type: "welcome",
      progressEveryMs: PROGRESS_EVERY_MS,
      service: admitted.service,
      ...this.#sessions.first(node, now),
    });
    this.#operator.welcomed(node);
    await Promise.all([replaced, this.#matcher.match(), this.#jobs.running(node, running)]);
  }

  /**
   * Replaces the older socket of a node, which has a single socket. An older socket of the same session is a leftover.
   * An older socket of another session belongs to a dead process. Leases that the same process does not name were
   * never received: their frames went to the older socket.
   */
  async #replace(older: SocketNode, { session, running }: NodeFrameOf<"hello">): Promise<void> {
    this.#nodes.remove(older.socket);
    older.socket.close(NORMAL, "replaced by a newer connection");
    const received: ReadonlySet<string> = new Set(running.map(({ lease }) => lease));
    const leases: HeldLeases =
      older.session === session
        ? Object.fromEntries(Object.entries(older.leases).filter(([lease]) => !received.has(lease)))
        : older.leases;
    await this.#jobs.lost({ ...older, leases }, older.session !== session);
  }

  /** The number of encodes that the nodes with a recently lost connection can run at the same time. */
  absentEncodes(now: number): number {
    return this.#absent.encodes(now);
  }

  /** Closes a socket. Its node is lost. */
  async disconnect(socket: WebSocket, { code, reason }: CloseReason): Promise<void> {
    const lost = this.lose(socket);
    socket.close(code, reason);
    await lost;
  }

  /** Handles a closed socket, and notifies the jobs of its node. */
  async lose(socket: WebSocket): Promise<void> {
    const node = this.#nodes.remove(socket);
    if (node) this.#operator.lost(node);
    if (node && !node.draining) this.#absent.add(node.nodeId, encodesOf(node), Date.now());
    // Work that waited for this node may now go to other nodes.
    if (node) await Promise.all([this.#jobs.lost(node), this.#matcher.match()]);
  }
}
