// A node in virtual time: the frames and reports of a real one (encoder-node/), and work that only takes time.
import { backoffMs } from "#shared/backoff.ts";
import type { LeaseId } from "#shared/ids.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import type { HubFrame, TaskStage } from "#shared/protocol/frames.ts";
import type { Assignment, SlotClass, SlotCounts } from "#shared/protocol/tasks.ts";
import type { Platform } from "./platform.ts";
import type { ClientSocket } from "./sockets.ts";
import { doTask, type Workload } from "./work.ts";

export type NodeOptions = {
  readonly nodeId: string;
  readonly token: string;
  readonly slots: SlotCounts;
  /** One way, in ms. */
  readonly latencyMs: number;
  readonly workloadOf: (assignment: Assignment) => Workload;
  /** Further fields of the hello. */
  readonly hello?: object;
  /** Where the node is, in degrees. */
  readonly position?: { readonly latitude: number; readonly longitude: number };
  /** Observes the node's leases. */
  readonly observer?: NodeObserver;
};

export interface NodeObserver {
  assigned(assignment: Assignment, nodeId: string): void;
  /** The node fetched the source of a job. */
  fetched(assignment: Assignment): void;
  /** The control plane has accepted the last report of a lease. */
  reported(assignment: Assignment, verb: "complete" | "fail"): void;
}

/** The lease is over, or the node is gone. */
class Dropped extends Error {}

type Running = Assignment & { stage: TaskStage; since: number; sent: number; isWanted: boolean; busyUntil: number };

/** As encoder-node/task/progress.ts. */
const REPEAT_AFTER_MS = 10_000;
const RETRY_MS = 1000;
/** As encoder-node/link/node-link.ts. */
const RECONNECT = { firstMs: 500, maxMs: 30_000 };
const RECONNECT_BUSY = { firstMs: 500, maxMs: 3000 };
const MAX_SPREAD_BUSY_MS = 8000;
/** Sources that a node keeps. */
const MAX_SOURCES = 20;

export class SimulatedNode {
  readonly #platform: Platform;
  readonly #options: NodeOptions;
  readonly #session = crypto.randomUUID();
  readonly #running = new Map<LeaseId, Running>();
  readonly #used: SlotCounts = { inspect: 0, encode: 0 };
  #socket: ClientSocket | null = null;
  #hubSession: string | null = null;
  #failures = 0;
  readonly #sources = new Set<string>();
  #progressEveryMs = 1000;
  #ticking = 0;
  #isGone = false;
  #spreadMs: number | null = null;
  /** When the hub last welcomed the node; ms since 1970. */
  welcomedAt: number | null = null;
  connects = 0;

  constructor(platform: Platform, options: NodeOptions) {
    this.#platform = platform;
    this.#options = options;
  }

  get isConnected(): boolean {
    return this.#socket?.isOpen === true && this.welcomedAt !== null;
  }

  get nodeId(): string {
    return this.#options.nodeId;
  }

  get running(): number {
    return this.#running.size;
  }

  async connect(): Promise<void> {
    const { token, latencyMs, nodeId, position } = this.#options;
    this.connects += 1;
    this.welcomedAt = null;
    const session = this.#hubSession === null ? {} : { "copra-node-session": this.#hubSession };
    const headers = { authorization: `Bearer ${token}`, "copra-node-name": nodeId, ...session };
    await this.#platform.time.sleep(latencyMs);
    const socket = await this.#platform.connect(headers, { latencyMs, position }).catch(() => null);
    if (this.#isGone) return socket?.close();
    if (!socket) return this.#reconnect();
    socket.listen({
      message: (data) => this.#receive(data),
      close: () => {
        if (this.#socket === socket) this.#socket = null;
        this.#reconnect();
      },
    });
    this.#socket = socket;
    this.#hello();
  }

  /** The process dies with its tasks, with or without a closed connection. */
  die({ isSilent = false } = {}): void {
    this.#isGone = true;
    if (isSilent) this.#socket?.fallSilent();
    else this.#socket?.close();
    this.#running.clear();
  }

  /** The machine is gone after this time: the node takes nothing more. */
  announceEnd(withinMs: number): void {
    this.#send({ type: "bye", withinMs });
    const endsAt = this.#platform.time.now + withinMs;
    for (const running of this.#running.values()) {
      if (running.busyUntil > endsAt) void this.#handBack(running);
    }
  }

  /** Returns a lease whose work cannot end in time. */
  async #handBack(running: Running): Promise<void> {
    const { token, latencyMs } = this.#options;
    running.isWanted = false;
    const failure = { code: "node_lost", message: "The node's machine is taken away" };
    await this.#platform.time.sleep(latencyMs);
    await this.#platform.request(`/v2/nodes/leases/${running.lease}/fail`, {
      ...{ method: "POST", body: JSON.stringify({ token: running.token, failure }) },
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    });
  }

  #reconnect(): void {
    if (this.#isGone) return;
    const { time, random } = this.#platform;
    const isBusy = this.#running.size > 0;
    const wasAccepted = this.#failures === 0 && this.#spreadMs !== null;
    this.#failures += 1;
    const spreadMs = Math.min(this.#spreadMs ?? 0, isBusy ? MAX_SPREAD_BUSY_MS : Number.POSITIVE_INFINITY);
    const delayMs = wasAccepted
      ? random() * spreadMs
      : backoffMs(this.#failures, isBusy ? RECONNECT_BUSY : RECONNECT, random);
    time.after(delayMs, () => void this.connect());
  }

  #hello(): void {
    const { nodeId, slots, hello } = this.#options;
    const running = [...this.#running.values()].map(({ lease, token, slotClass }) => ({ lease, token, slotClass }));
    this.#send({
      ...{ type: "hello", protocol: this.#platform.protocol, nodeId, session: this.#session, running },
      capabilities: { ffmpegVersion: "7.0", cpus: 8, ...ALL_SOFTWARE, hardware: null },
      slots: { inspect: slots.inspect - this.#used.inspect, encode: slots.encode - this.#used.encode },
      ...hello,
    });
  }

  #send(frame: object): void {
    this.#socket?.send(JSON.stringify(frame));
  }

  #receive(data: string): void {
    if (!data.startsWith("{")) return;
    const frame = JSON.parse(data) as HubFrame;
    if (frame.type === "welcome") {
      this.welcomedAt = this.#platform.time.now;
      this.#failures = 0;
      this.#setPace(frame.progressEveryMs);
    }
    if (frame.type === "welcome" || frame.type === "session") {
      this.#hubSession = frame.session ?? null;
      this.#spreadMs = frame.reconnectSpreadMs ?? null;
    }
    if (frame.type === "pace") this.#setPace(frame.progressEveryMs);
    if (frame.type === "assign") void this.#work(frame.assignment);
    if (frame.type === "cancel") this.#drop(frame.lease);
  }

  #drop(lease: LeaseId): void {
    const running = this.#running.get(lease);
    if (running) running.isWanted = false;
  }

  #setPace(everyMs: number): void {
    this.#progressEveryMs = everyMs;
    this.#tick();
  }

  /** Progress of all leases at each interval, as long as there are any. */
  #tick(): void {
    const turn = ++this.#ticking;
    const again = (): void => {
      if (turn !== this.#ticking || this.#isGone) return;
      this.#flush([...this.#running.values()]);
      if (this.#running.size > 0) this.#platform.time.after(this.#progressEveryMs, again);
    };
    if (this.#running.size > 0) this.#platform.time.after(this.#progressEveryMs, again);
  }

  #flush(leases: readonly Running[]): void {
    const { now } = this.#platform.time;
    const due = leases.filter(
      ({ isWanted, sent, stage }) => isWanted && (stage !== "transferring" || now - sent >= REPEAT_AFTER_MS),
    );
    if (due.length === 0) return;
    for (const one of due) one.sent = now;
    const items = due.map(({ lease, token, stage, since }) => {
      return { lease, token, stage, fraction: 1 - 1 / (1 + (now - since) / 60_000) };
    });
    this.#send({ type: "progress", items });
  }

  #stage(running: Running, stage: TaskStage): void {
    running.stage = stage;
    running.since = this.#platform.time.now;
    running.sent = 0;
    this.#flush([running]);
  }

  async #work(assignment: Assignment): Promise<void> {
    const { lease, slotClass } = assignment;
    if (this.#isGone || this.#running.has(lease)) return;
    const running: Running = { ...assignment, stage: "transferring", since: 0, sent: 0, isWanted: true, busyUntil: 0 };
    const { observer, workloadOf } = this.#options;
    const isFirst = this.#running.size === 0;
    this.#running.set(lease, running);
    this.#used[slotClass] += 1;
    this.#stage(running, "transferring");
    if (isFirst) this.#tick();
    observer?.assigned(assignment, this.#options.nodeId);
    try {
      const workload = workloadOf(assignment);
      if (workload.kills && assignment.kind === "encode") return this.die({ isSilent: true });
      if (workload.fails) {
        await this.#post(running, "fail", { failure: workload.fails });
        observer?.reported(assignment, "fail");
        return;
      }
      await this.#fetch(running, workload.fetchMs);
      const result = await doTask(
        {
          assignment,
          stage: (stage) => this.#stage(running, stage),
          sleep: (ms) => this.#sleep(running, ms),
          post: (verb, body) => this.#post(running, verb, body),
        },
        workload,
      );
      await this.#post(running, "complete", { result });
      observer?.reported(assignment, "complete");
    } catch (error) {
      if (!(error instanceof Dropped)) throw error;
    } finally {
      this.#release(lease, slotClass);
    }
  }

  /** Tasks on the whole source need a copy of it. */
  async #fetch(running: Running, fetchMs: number): Promise<void> {
    const { jobId, kind } = running;
    if (kind !== "inspect" && kind !== "encode") return;
    if (!this.#sources.has(jobId)) {
      this.#options.observer?.fetched(running);
      await this.#sleep(running, fetchMs);
    }
    this.#sources.delete(jobId);
    this.#sources.add(jobId);
    const [oldest] = this.#sources;
    if (oldest !== undefined && this.#sources.size > MAX_SOURCES) this.#sources.delete(oldest);
  }

  #release(lease: LeaseId, slotClass: SlotClass): void {
    if (this.#isGone) return;
    this.#running.delete(lease);
    this.#used[slotClass] -= 1;
    this.#send({ type: "slots", offered: { inspect: 0, encode: 0, [slotClass]: 1 }, released: [lease] });
  }

  async #sleep(running: Running, ms: number): Promise<void> {
    running.busyUntil = this.#platform.time.now + ms;
    await this.#platform.time.sleep(ms);
    if (this.#isGone || !running.isWanted) throw new Dropped();
  }

  /** A report, repeated until the control plane has accepted or refused it. */
  async #post(running: Running, verb: string, body: object): Promise<unknown> {
    const { token, latencyMs } = this.#options;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const sent = { method: "POST", headers, body: JSON.stringify({ token: running.token, ...body }) };
    for (let delayMs = RETRY_MS; ; delayMs *= 2) {
      await this.#sleep(running, latencyMs);
      const response = await this.#platform.request(`/v2/nodes/leases/${running.lease}/${verb}`, sent);
      const answer: unknown = await response.json();
      await this.#sleep(running, latencyMs);
      if (response.ok) return answer;
      if (response.status < 500) {
        if (response.status !== 409) throw new Error(`${verb}: ${response.status} ${JSON.stringify(answer)}`);
        throw new Dropped();
      }
      await this.#sleep(running, delayMs);
    }
  }
}
