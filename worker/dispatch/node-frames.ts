// The frames of nodes: who joins, what each frame changes, and what happens when a connection ends.
import { assertNever } from "#shared/errors.ts";
import { type LeaseId, parseLeaseId } from "#shared/ids.ts";
import {
  type FreedSlots,
  NAME_IN_USE,
  type NodeFrame,
  type NodeFrameOf,
  PREVIOUS_PROTOCOL_VERSION,
  PROTOCOL_VERSION,
} from "#shared/protocol/frames.ts";
import { profileOf } from "#shared/protocol/requirements.ts";
import type { HubEnv } from "../bindings.ts";
import { isLeaseToken } from "../crypto/lease-token.ts";
import { sealingKeysOf } from "../settings.ts";
import { AbsentNodes } from "./absent-nodes.ts";
import { type Admission, type CloseReason, NAME_TAKEN, POLICY_VIOLATION } from "./admission/admission.ts";
import { HeldReports } from "./held-reports.ts";
import type { JobCalls } from "./job-calls.ts";
import type { Matcher } from "./matcher.ts";
import { addSlots, encodesOf, type HeldLeases } from "./matching/nodes/connected-node.ts";
import { type Admitted, aboutNode, contradictionOf } from "./node-about.ts";
import { HELLO_LIMIT_MS, type NodeConnections, type SocketNode } from "./node-connections.ts";
import type { Operator } from "./operator/operator.ts";
import { PROGRESS_EVERY_MS } from "./progress-relay.ts";
import { Sessions } from "./sessions.ts";

/** WebSocket close code (RFC 6455 §7.4.1). */
const NORMAL = 1000;

const NO_SLOTS = { inspect: 0, encode: 0 };
const NO_HELLO: CloseReason = { code: POLICY_VIOLATION, reason: "no hello within 15 seconds" };
export const violation = (reason: string): CloseReason => ({ code: POLICY_VIOLATION, reason });

/** A report, with the node that sent it. */
type NodeReport = Pick<NodeFrameOf<"report">, "id" | "report" | "slots"> & { readonly node: SocketNode };

type Deps = {
  readonly nodes: NodeConnections;
  readonly jobs: JobCalls;
  readonly matcher: Matcher;
  readonly admission: Admission;
  readonly operator: Operator;
};

export class NodeFrames {
  readonly #env: Pick<HubEnv, "MASTER_SECRET" | "SEALING_KEYS">;
  readonly #nodes: NodeConnections;
  readonly #jobs: JobCalls;
  readonly #matcher: Matcher;
  readonly #admission: Admission;
  readonly #operator: Operator;
  readonly #sessions: Sessions;
  readonly #absent = new AbsentNodes();
  readonly #held = new HeldReports<SocketNode, NodeReport>();
  #helloTimer: number | null = null;

  constructor(
    env: Pick<HubEnv, "MASTER_SECRET" | "SEALING_KEYS">,
    { nodes, jobs, matcher, admission, operator }: Deps,
  ) {
    this.#env = env;
    this.#nodes = nodes;
    this.#jobs = jobs;
    this.#matcher = matcher;
    this.#admission = admission;
    this.#operator = operator;
    this.#sessions = new Sessions(env, nodes);
  }

  /** Accepts a socket, whose node must send hello in time. */
  accept(socket: WebSocket, admitted: Admitted, now: number): void {
    this.#nodes.accept(socket, admitted, now);
    this.#closeOverdue(now);
  }

  /** Closes the sockets whose nodes have not sent hello in time, and looks again while others wait. */
  #closeOverdue(now: number): void {
    clearTimeout(this.#helloTimer);
    for (const socket of this.#nodes.overdue(now)) void this.disconnect(socket, NO_HELLO);
    // No alarm, which is a row: a hub without memory of the timer does this when the next node connects.
    if (this.#nodes.isAwaitingHello)
      this.#helloTimer = setTimeout(() => this.#closeOverdue(Date.now()), HELLO_LIMIT_MS);
  }

  /** Handles a frame of a node. */
  async handle(socket: WebSocket, frame: NodeFrame): Promise<void> {
    const node = this.#nodes.get(socket);
    if (frame.type === "hello") {
      // A second one would not count assignments that are on their way: the node must reconnect.
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
      case "report": {
        const { id, report, slots, mayWaitMs = 0 } = frame;
        const jobId = parseLeaseId(report.lease)?.job ?? "";
        return this.#report(
          this.#held.add(jobId, { node, id, report, ...(slots && { slots }) }, mayWaitMs, node.heardAt),
        );
      }
      case "due":
        return this.#reportHeld(node, frame.id);
      case "slow":
        return this.#slow(node, frame.lease);
      case "bye":
        this.#nodes.update(node, { free: NO_SLOTS, draining: true });
        return this.#matcher.match();
      default:
        return assertNever(frame);
    }
  }

  /** A node's slots are free again, and its leases have ended. */
  #free(node: SocketNode, { offered, released, outcome, disk, notReady }: FreedSlots): void {
    const ended: ReadonlySet<string> = new Set(released);
    this.#jobs.released(released);
    if (outcome) this.#matcher.ending(released, outcome);
    const leases: HeldLeases = Object.fromEntries(Object.entries(node.leases).filter(([lease]) => !ended.has(lease)));
    const about = { ...node.about, ...(disk && { disk }), ...(notReady && { notReady }) };
    this.#nodes.update(node, { free: addSlots({ free: node.free, leases }, offered), leases, about });
  }

  /** A source is slow: no slot is kept for it while other tasks wait. */
  async #slow(node: SocketNode, lease: LeaseId): Promise<void> {
    const slotClass = node.leases[lease];
    if (!slotClass || !this.#matcher.hasWaiting(slotClass, node)) return;
    // An inspection goes on in its own slot; the encode slot that was held for its job goes to others.
    if (slotClass === "encode" || node.free.inspect === 0) return this.#nodes.send(node, { type: "yield", lease });
    this.#nodes.roster.endHold(lease);
    return this.#matcher.match();
  }

  /** Passes reports on. What the slots claim that they free goes to the job in the same turn. */
  async #report(reports: readonly NodeReport[]): Promise<void> {
    if (reports.length === 0) return;
    const answered = reports.map((report) => this.#jobs.report(report.node, report));
    for (const { node, slots } of reports) if (slots) this.#free(node, slots);
    await Promise.all([...answered, reports.some(({ slots }) => slots) ? this.#matcher.match() : null]);
  }

  /** The reports of a node must not wait any longer, or one of them. */
  async #reportHeld(node: SocketNode, id: number | null = null): Promise<void> {
    await Promise.all(this.#held.jobsOf(node, id).map((jobId) => this.#report(this.#held.take(jobId))));
  }

  async #welcome(socket: WebSocket, hello: NodeFrameOf<"hello">): Promise<void> {
    if (hello.protocol !== PROTOCOL_VERSION && hello.protocol !== PREVIOUS_PROTOCOL_VERSION) {
      return this.disconnect(socket, violation(`protocol ${PROTOCOL_VERSION} is required: update this node`));
    }
    const { nodeId, session, running } = hello;
    const now = Date.now();
    const older = this.#nodes.roster.get(nodeId);
    const admitted = this.#nodes.admittedOf(socket);
    const rejection =
      contradictionOf(admitted, hello) ??
      this.#admission.rejectionOf({ nodeId, token: admitted.token, isConnected: older !== null }, now);
    const isInUse = rejection === NAME_TAKEN || (older !== null && older.session !== session);
    if (hello.isNewName && isInUse) return this.disconnect(socket, violation(NAME_IN_USE));
    if (rejection) return this.disconnect(socket, rejection);
    const replaced = older && this.#replace(older, hello);
    // Any other one counts as soon as its job has confirmed it.
    const valid = running.filter((proof) => isLeaseToken(proof, sealingKeysOf(this.#env)));
    const leases: HeldLeases = Object.fromEntries(valid.map(({ lease, slotClass }) => [lease, slotClass]));
    const free = addSlots({ free: NO_SLOTS, leases }, hello.slots);
    const accounts = older?.accounts ?? {};
    const about = aboutNode(admitted, hello, this.#nodes.keepCapabilities(hello.capabilities), now);
    const profile = profileOf({ ...about, pool: admitted.pool }, hello.capabilities);
    const node = { nodeId, session, free, leases, accounts, draining: false, heardAt: now, profile, about, socket };
    this.#nodes.add(node);
    this.#absent.delete(nodeId);
    if (!this.#nodes.isAwaitingHello) clearTimeout(this.#helloTimer);
    this.#nodes.send(node, {
      type: "welcome",
      protocol: hello.protocol,
      progressEveryMs: PROGRESS_EVERY_MS,
      slotsInReports: true,
      service: admitted.service,
      ...this.#sessions.first(node, now),
    });
    this.#operator.welcomed(node);
    await Promise.all([replaced, this.#matcher.match(), this.#jobs.running(node, running)]);
  }

  /**
   * A node has one socket: an older one of the same session is a leftover, one of another session is of a dead process.
   * Leases that the same process does not name were assigned in vain: their frames were lost with the older socket.
   */
  async #replace(older: SocketNode, { session, running }: NodeFrameOf<"hello">): Promise<void> {
    const reported = this.#reportHeld(older);
    this.#nodes.remove(older.socket);
    older.socket.close(NORMAL, "replaced by a newer connection");
    const known: ReadonlySet<string> = new Set(running.map(({ lease }) => lease));
    const leases: HeldLeases =
      older.session === session
        ? Object.fromEntries(Object.entries(older.leases).filter(([lease]) => !known.has(lease)))
        : older.leases;
    await Promise.all([reported, this.#jobs.lost({ ...older, leases }, older.session !== session)]);
  }

  /** The encodes that nodes which have just lost their connections can run at the same time. */
  absentEncodes(now: number): number {
    return this.#absent.encodes(now);
  }

  /** Closes a socket; its node is lost. */
  async disconnect(socket: WebSocket, { code, reason }: CloseReason): Promise<void> {
    const lost = this.lose(socket);
    socket.close(code, reason);
    await lost;
  }

  /** A socket was closed: the jobs of its node hear of it. */
  async lose(socket: WebSocket): Promise<void> {
    const node = this.#nodes.remove(socket);
    // Reports of other nodes may wait for the one that is lost.
    const reported = node && this.#reportHeld(node);
    if (node && !node.draining) this.#absent.add(node.nodeId, encodesOf(node), Date.now());
    // What waited for this node may go to others.
    if (node) await Promise.all([reported, this.#jobs.lost(node), this.#matcher.match()]);
  }
}
