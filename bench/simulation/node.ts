// A node in virtual time: the frames and reports of a real one (encoder-node/), and work that only takes time.
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
};

/** The lease is over, or the node is gone. */
class Dropped extends Error {}

type Running = Assignment & { stage: TaskStage; since: number; sent: number; isWanted: boolean };

/** As encoder-node/task/progress.ts. */
const REPEAT_AFTER_MS = 10_000;
const PING_EVERY_MS = 15_000;
const RETRY_MS = 1000;
const RECONNECT_MS = 500;

export class SimulatedNode {
  readonly #platform: Platform;
  readonly #options: NodeOptions;
  readonly #session = crypto.randomUUID();
  readonly #running = new Map<LeaseId, Running>();
  readonly #used: SlotCounts = { inspect: 0, encode: 0 };
  #socket: ClientSocket | null = null;
  #hubSession: string | null = null;
  #progressEveryMs = 1000;
  #ticking = 0;
  #isGone = false;
  #spreadMs = RECONNECT_MS;
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

  get running(): number {
    return this.#running.size;
  }

  async connect(): Promise<void> {
    const { token, latencyMs } = this.#options;
    this.connects += 1;
    this.welcomedAt = null;
    const authorization = `Bearer ${this.#hubSession ?? token}`;
    await this.#platform.time.sleep(latencyMs);
    const socket = await this.#platform.connect({ authorization }, () => latencyMs).catch(() => null);
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
    this.#ping(socket);
  }

  /** The process dies with its tasks, with or without a closed connection. */
  die({ isSilent = false } = {}): void {
    this.#isGone = true;
    if (isSilent) this.#socket?.fallSilent();
    else this.#socket?.close();
    this.#running.clear();
  }

  #reconnect(): void {
    if (this.#isGone) return;
    const { time, random } = this.#platform;
    time.after(RECONNECT_MS + this.#spreadMs * random(), () => void this.connect());
  }

  #ping(socket: ClientSocket): void {
    if (!socket.isOpen) return;
    socket.send("ping");
    this.#platform.time.after(PING_EVERY_MS, () => this.#ping(socket));
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
      this.#setPace(frame.progressEveryMs);
      if ("reconnectSpreadMs" in frame) this.#spreadMs = Number(frame.reconnectSpreadMs);
    }
    if (frame.type === "assign") void this.#work(frame.assignment);
    if (frame.type === "cancel") this.#drop(frame.lease);
    if ((frame as { type: string }).type === "pace" && "progressEveryMs" in frame) this.#setPace(frame.progressEveryMs);
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
    const running: Running = { ...assignment, stage: "transferring", since: 0, sent: 0, isWanted: true };
    const isFirst = this.#running.size === 0;
    this.#running.set(lease, running);
    this.#used[slotClass] += 1;
    this.#stage(running, "transferring");
    if (isFirst) this.#tick();
    try {
      const result = await doTask(
        {
          assignment,
          stage: (stage) => this.#stage(running, stage),
          sleep: (ms) => this.#sleep(running, ms),
          post: (verb, body) => this.#post(running, verb, body),
        },
        this.#options.workloadOf(assignment),
      );
      await this.#post(running, "complete", { result });
    } catch (error) {
      if (!(error instanceof Dropped)) throw error;
    } finally {
      this.#release(lease, slotClass);
    }
  }

  #release(lease: LeaseId, slotClass: SlotClass): void {
    if (this.#isGone) return;
    this.#running.delete(lease);
    this.#used[slotClass] -= 1;
    this.#send({ type: "slots", offered: { inspect: 0, encode: 0, [slotClass]: 1 }, released: [lease] });
  }

  async #sleep(running: Running, ms: number): Promise<void> {
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
