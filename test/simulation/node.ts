// A node in virtual time: the frames and reports of a real node (encoder-node/), and work that only takes time.
import type { LeaseId } from "#shared/ids.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import type { HubFrame, TaskStage } from "#shared/protocol/frames.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import type { Assignment, SlotCounts } from "#shared/protocol/tasks.ts";
import { ranCommands } from "./commands.ts";
import { type LinkOptions, type LinkOwner, SimulatedLink, type SlotReturn } from "./node-link.ts";
import type { NodeHost } from "./platform/node-host.ts";
import { doTask, type Workload } from "./work.ts";

export type NodeOptions = LinkOptions & {
  readonly slots: SlotCounts;
  readonly workloadOf: (assignment: Assignment) => Workload;
  /** Further fields of the hello. */
  readonly hello?: object;
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

type Running = Assignment & { stage: TaskStage; since: number; sent: number; isWanted: boolean; busyUntil: number } & {
  /** True if the node has returned the slot; `isReleased` is true if the hub knows. */
  isFreed: boolean;
  isReleased: boolean;
};

/** Same as in encoder-node/workspace/progress.ts. */
const REPEAT_AFTER_MS = 10_000;
const RETRY_MS = 1000;
const MAX_RETRY_MS = 15_000;
/** Sources that a node keeps. */
const MAX_SOURCES = 20;

export class SimulatedNode implements LinkOwner {
  readonly #platform: NodeHost;
  readonly #options: NodeOptions;
  readonly #session = crypto.randomUUID();
  readonly #running = new Map<LeaseId, Running>();
  readonly #used: SlotCounts = { inspect: 0, encode: 0 };
  readonly #sources = new Set<string>();
  readonly link: SimulatedLink;
  #progressEveryMs = 1000;
  #ticking = 0;

  constructor(platform: NodeHost, options: NodeOptions) {
    this.#platform = platform;
    this.#options = options;
    this.link = new SimulatedLink(platform, options, this);
  }

  get nodeId(): string {
    return this.#options.nodeId;
  }

  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  /**
   * The process dies with its tasks, with or without a closed connection. Returns its leases, as its notes on disk name
   * them.
   */
  die({ isSilent = false } = {}): LeaseProof[] {
    const noted = [...this.#running.values()].map(({ lease, token }) => ({ lease, token }));
    this.link.end({ isSilent });
    this.#running.clear();
    return noted;
  }

  /** The process starts, on the disk of a process that died with these leases. */
  async start(noted: readonly LeaseProof[] = []): Promise<void> {
    const failure = { code: "node_lost", message: "The process has ended" };
    for (const { lease, token } of noted) {
      for (let isAccepted = false; !isAccepted && !this.link.isGone; ) {
        const response = await this.#request(lease, "fail", { token, failure, hasCrashed: true });
        isAccepted = response !== null && response.status < 500;
        if (!isAccepted) await this.#platform.time.sleep(RETRY_MS);
      }
    }
    await this.link.connect();
  }

  /** The machine is gone after this time: the node takes no more tasks. */
  announceEnd(withinMs: number): void {
    this.link.send({ type: "bye", withinMs });
    const endsAt = this.#platform.time.now + withinMs;
    for (const running of this.#running.values()) {
      if (running.busyUntil > endsAt) void this.#handBack(running);
    }
  }

  /** Returns a lease whose work cannot end in time. */
  async #handBack(running: Running): Promise<void> {
    running.isWanted = false;
    const failure = { code: "node_lost", message: "The node's machine is taken away" };
    await this.#platform.time.sleep(this.#options.latencyMs);
    await this.#request(running.lease, "fail", { token: running.token, failure });
  }

  /** Sends a request about a lease; null if there is no answer. */
  async #request(lease: LeaseId, verb: string, body: object): Promise<Response | null> {
    if (this.link.isOffline) return null;
    const headers = { authorization: `Bearer ${this.#options.token}`, "content-type": "application/json" };
    const sent = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await this.#platform.request(`/v2/nodes/leases/${lease}/${verb}`, sent).catch(() => null);
    return this.link.isOffline ? null : response;
  }

  hello(): object {
    const { nodeId, slots, hello } = this.#options;
    const running = [...this.#running.values()].map(({ lease, token, slotClass }) => ({ lease, token, slotClass }));
    return {
      type: "hello",
      protocol: this.#platform.protocol,
      nodeId,
      session: this.#session,
      running,
      capabilities: { ffmpegVersion: "7.0", cpus: 8, ...ALL_SOFTWARE, hardware: null },
      slots: { inspect: slots.inspect - this.#used.inspect, encode: slots.encode - this.#used.encode },
      ...hello,
    };
  }

  received(frame: HubFrame): void {
    if (frame.type === "welcome" || frame.type === "pace") this.#setPace(frame.progressEveryMs);
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

  /** Reports the progress of all leases at each interval, as long as there are any. */
  #tick(): void {
    const turn = ++this.#ticking;
    const again = (): void => {
      if (turn !== this.#ticking || this.link.isGone) return;
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
    for (const report of due) report.sent = now;
    const items = due.map(({ lease, token, stage, since }) => {
      return { lease, token, stage, fraction: 1 - 1 / (1 + (now - since) / 60_000) };
    });
    this.link.send({ type: "progress", items });
  }

  #stage(running: Running, stage: TaskStage): void {
    running.stage = stage;
    running.since = this.#platform.time.now;
    running.sent = 0;
    this.#flush([running]);
  }

  async #work(assignment: Assignment): Promise<void> {
    const { lease, slotClass } = assignment;
    if (this.link.isGone || this.#running.has(lease)) return;
    const running: Running = {
      ...assignment,
      stage: "transferring",
      since: 0,
      sent: 0,
      isWanted: true,
      busyUntil: 0,
      isFreed: false,
      isReleased: false,
    };
    const { observer, workloadOf } = this.#options;
    const isFirst = this.#running.size === 0;
    this.#running.set(lease, running);
    this.#used[slotClass] += 1;
    this.#stage(running, "transferring");
    if (isFirst) this.#tick();
    observer?.assigned(assignment, this.#options.nodeId);
    try {
      const workload = workloadOf(assignment);
      if (workload.kills && assignment.kind === "encode") {
        this.die({ isSilent: true });
        return;
      }
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
          put: (signed, sizeBytes) => this.#platform.put?.(signed, { sizeBytes, lease }),
        },
        workload,
      );
      await this.#post(running, "complete", { result, ...ranCommands(assignment, workload) });
      observer?.reported(assignment, "complete");
    } catch (error) {
      if (!(error instanceof Dropped)) throw error;
    } finally {
      this.#release(running);
    }
  }

  /** Fetches the source for tasks that need all of it. */
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

  #release(running: Running): void {
    if (this.link.isGone) return;
    this.#running.delete(running.lease);
    if (!running.isReleased) this.link.send({ type: "slots", ...this.#free(running) });
  }

  #free(running: Running): object {
    const { lease, slotClass, isFreed } = running;
    if (!isFreed) this.#used[slotClass] -= 1;
    running.isFreed = true;
    return { offered: { inspect: 0, encode: 0, [slotClass]: isFreed ? 0 : 1 }, released: [lease] };
  }

  /** Same as in encoder-node/leases/run-lease.ts. */
  #slotWith(running: Running, verb: string): SlotReturn | undefined {
    if (verb !== "complete" || running.slotClass !== "encode") return undefined;
    return {
      freed: () => this.#free(running),
      acknowledged: () => {
        running.isReleased = true;
      },
    };
  }

  async #sleep(running: Running, ms: number): Promise<void> {
    running.busyUntil = this.#platform.time.now + ms;
    await this.#platform.time.sleep(ms);
    if (this.link.isGone || !running.isWanted) throw new Dropped();
  }

  /** Repeats a report until the control plane has accepted or rejected it. */
  async #post(running: Running, verb: string, body: object): Promise<unknown> {
    if (verb !== "uploads" && verb !== "scratch") {
      const report = { lease: running.lease, verb, body: { token: running.token, ...body } };
      const isAccepted = await this.link.report(report, this.#slotWith(running, verb));
      if (isAccepted === false) throw new Dropped();
      if (isAccepted !== null) return {};
    }
    const { latencyMs } = this.#options;
    for (let delayMs = RETRY_MS; ; delayMs = Math.min(2 * delayMs, MAX_RETRY_MS)) {
      await this.#sleep(running, latencyMs);
      const response = await this.#request(running.lease, verb, { token: running.token, ...body });
      const answer: unknown = await response?.json();
      await this.#sleep(running, latencyMs);
      if (response?.ok) return answer;
      if (response && response.status < 500) {
        if (response.status !== 409) throw new Error(`${verb}: ${response.status} ${JSON.stringify(answer)}`);
        throw new Dropped();
      }
      await this.#sleep(running, delayMs);
    }
  }
}
