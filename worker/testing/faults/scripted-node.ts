// A node that does its tasks by a script, over the real socket, routes and storage. Instead of video it uploads a
// repeated byte that identifies the lease.
import { exports } from "cloudflare:workers";
import { type LeaseId, parseLeaseId } from "#shared/ids.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { type HubFrame, PROTOCOL_VERSION } from "#shared/protocol/frames.ts";
import { LEASE_MS, OFFER_MS } from "#shared/protocol/leases.ts";
import type { Assignment, SlotClass, SlotCounts } from "#shared/protocol/tasks.ts";
import { bearer } from "../jobs.ts";
import { Dropped, type ScriptedLease, type World } from "./scripted-lease.ts";
import { doTask } from "./scripted-tasks.ts";

/** Delays after a lease has expired: while another node works on the task, and after that node has ended the task. */
const EXPIRED_MS = OFFER_MS + LEASE_MS;
const LATE_MS = { late: EXPIRED_MS + 2000, "very late": EXPIRED_MS + 25_000 } as const;
/** Minimum duration of a second attempt. */
const SECOND_MS = 5_000;
const SLOTS: SlotCounts = { inspect: 2, encode: 2 };
/** A fault is injected only once: more failures are a bug. */
const MAX_TRIES = 10;
/** The pause between two tries. */
export const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

export class ScriptedNode {
  readonly #world: World;
  readonly #nodeId: string;
  readonly #session: string = crypto.randomUUID();
  readonly #running = new Map<LeaseId, { token: string; slotClass: SlotClass; isWanted: boolean }>();
  #socket: WebSocket | null = null;
  #isDead = false;
  /** Number of tasks under way. */
  working = 0;

  constructor(world: World, nodeId: string) {
    this.#world = world;
    this.#nodeId = nodeId;
  }

  /** Opens the socket, also after the socket was lost. */
  async connect(): Promise<void> {
    const { wire, nodeToken } = this.#world;
    wire.pending++;
    try {
      const headers = { ...bearer(nodeToken), upgrade: "websocket" };
      const { webSocket } = await exports.default.fetch(
        new Request("https://copra.test/v2/nodes/connect", { headers }),
      );
      if (!webSocket) throw new Error("The hub did not accept the socket");
      this.#open(webSocket);
    } catch {
      await pause();
      if (!this.#isDead) await this.connect();
    } finally {
      wire.pending--;
    }
  }

  /** Ends the node's process, with its tasks. */
  die(): void {
    this.#isDead = true;
    this.#socket?.close();
  }

  #open(socket: WebSocket): void {
    const lost = (): void => {
      // A close handshake without an end would hold the hub in memory.
      socket.close();
      if (this.#socket !== socket) return;
      this.#socket = null;
      if (!this.#isDead) void this.connect();
    };
    socket.addEventListener("message", ({ data }) => {
      const text = String(data);
      if (!text.startsWith("{")) return;
      this.#take(JSON.parse(text) as HubFrame);
    });
    socket.addEventListener("close", lost);
    socket.addEventListener("error", lost);
    socket.accept();
    this.#socket = socket;
    const running = [...this.#running].filter(([, { isWanted }]) => isWanted);
    const used = (slotClass: SlotClass): number =>
      [...this.#running.values()].filter((one) => one.slotClass === slotClass).length;
    this.#send({
      type: "hello",
      protocol: PROTOCOL_VERSION,
      nodeId: this.#nodeId,
      session: this.#session,
      capabilities: { ffmpegVersion: "7.0", cpus: 2, ...ALL_SOFTWARE },
      slots: { inspect: SLOTS.inspect - used("inspect"), encode: SLOTS.encode - used("encode") },
      running: running.map(([lease, { token, slotClass }]) => ({ lease, token, slotClass })),
    });
  }

  #send(frame: object): void {
    try {
      this.#socket?.send(JSON.stringify(frame));
    } catch {
      // A closing socket loses the frame. The next hello lists the running tasks.
    }
  }

  #take(frame: HubFrame): void {
    if (frame.type === "cancel") {
      const running = this.#running.get(frame.lease);
      if (running) running.isWanted = false;
    }
    if (frame.type === "assign" && !this.#isDead) void this.#work(frame.assignment);
  }

  async #work(assignment: Assignment): Promise<void> {
    const { lease, token, slotClass } = assignment;
    this.#running.set(lease, { token, slotClass, isWanted: true });
    this.working++;
    try {
      await doTask(this.#leaseOf(assignment));
    } catch (error) {
      if (!(error instanceof Dropped)) this.#world.errors.push(error);
    } finally {
      this.working--;
      this.#running.delete(lease);
      const offered = { inspect: 0, encode: 0, [slotClass]: 1 };
      if (!this.#isDead) this.#send({ type: "slots", offered, released: [lease] });
    }
  }

  #leaseOf(assignment: Assignment): ScriptedLease {
    const { lease, token, task } = assignment;
    const sent: (() => Promise<unknown>)[] = [];
    const isRepeated = (parseLeaseId(lease)?.attempt ?? 1) > 1;
    /** Sends a report on the lease with the injected fault. */
    const step = async <Value>(name: string, say: () => Promise<Value>): Promise<Value> => {
      const kind = await this.#world.step(`${task.kind} ${name}`);
      if (kind === "node dies") this.die();
      if (kind === "late" || kind === "very late") await this.#world.clock.sleep(LATE_MS[kind]);
      if (this.#isDead) throw new Dropped();
      const value = await say();
      if (kind === "sent twice") await say();
      // Earlier reports arrive late.
      if (kind === "sent again") for (const earlier of sent.toReversed()) await earlier().catch(() => {});
      sent.push(say);
      return value;
    };
    return {
      assignment,
      world: this.#world,
      progress: (stage, fraction) =>
        step(`${stage}`, async () => this.#send({ type: "progress", items: [{ lease, token, stage, fraction }] })),
      post: async (verb, body) => {
        if (isRepeated && verb === "complete") await this.#world.clock.sleep(SECOND_MS);
        return step(verb, () => this.#post(lease, verb, { token, ...body }));
      },
    };
  }

  async #post(lease: LeaseId, verb: string, body: object): Promise<unknown> {
    const headers = { ...bearer(this.#world.nodeToken), "content-type": "application/json" };
    let last = "";
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      if (this.#running.get(lease)?.isWanted === false) throw new Dropped();
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      const address = `https://copra.test/v2/nodes/leases/${lease}/${verb}`;
      const response = await exports.default.fetch(new Request(address, init));
      if (response.ok) return await response.json();
      last = `${response.status} ${await response.text()}`;
      if (response.status === 409 || response.status === 404) throw new Dropped();
      await pause();
      if (response.status < 500) throw new Error(`${verb} of ${lease}: ${last}`);
    }
    throw new Error(`${verb} of ${lease} is always rejected: ${last}`);
  }
}
