// One job from its request to its last notification, with at most one fault on its way. The test drives everything that
// waits: when nothing is under way any more, time jumps to the next alarm.
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { isTerminalJob } from "#shared/job/job-status.ts";
import type { JobObject } from "../../job/job-object.ts";
import { loadState } from "../../job/persistence/job-store.ts";
import type { JobState } from "../../job/state/job-state.ts";
import { sweep } from "../../sweep.ts";
import { basic, send } from "../jobs.ts";
import { Clock } from "./clock.ts";
import { beneath, newWire, type Strike, type Wire } from "./fault-points.ts";
import type { Scenario } from "./scenarios.ts";
import { type Mishap, pause, ScriptedNode, type World } from "./scripted-node.ts";

export type Fault = { readonly strike: Strike } | { readonly step: string; readonly mishap: Mishap };

/** How a run went, for its end to be looked at. */
export type Run = {
  readonly jobId: string;
  readonly wire: Wire;
  /** The names of all steps, in order. */
  readonly steps: readonly string[];
  readonly state: JobState;
  /** The job as its client sees it, without what differs from one run to the next. */
  readonly view: unknown;
  readonly hasStruck: boolean;
};

/** What runs share: who asks for the job, and who works on it. */
export type Parties = { readonly clientKey: string; readonly nodeToken: string };

const DAY_MS = 24 * 60 * 60_000;
/** A job with one fault takes some twenty of them. */
const MOST_TURNS = 150;
/** Beyond any slowness of a machine. */
const STUCK_MS = 20_000;
/** Nothing is under way when that is so for this many turns of the event loop, in which frames arrive that were sent. */
const CALM_TURNS = 5;

export async function runJob(scenario: Scenario, fault: Fault | null, parties: Parties): Promise<Run> {
  const strike = fault && "strike" in fault ? fault.strike : null;
  const driver = new Driver(scenario, fault && "step" in fault ? fault : null, newWire(strike), parties);
  try {
    return await driver.run();
  } finally {
    await driver.leave();
  }
}

const stubOf = (jobId: string): DurableObjectStub<JobObject> => beneath.stub(env.JOB, jobId);
const hubStub = (wire: Wire) => beneath.stub(env.HUB, wire.hub);

/** The job's state on disk, and when its alarm rings. */
const readJob = (jobId: string): Promise<{ state: JobState | null; alarmAt: number | null }> =>
  runInDurableObject(stubOf(jobId), async (_, { storage }) => {
    return { state: loadState(storage), alarmAt: await storage.getAlarm() };
  });

class Driver implements World {
  readonly scenario: Scenario;
  readonly wire: Wire;
  readonly clock = new Clock();
  readonly nodeToken: string;
  readonly complaints: unknown[] = [];
  readonly #folder = crypto.randomUUID();
  readonly #client: Record<string, string>;
  readonly #mishap: { step: string; mishap: Mishap } | null;
  readonly #nodes: ScriptedNode[];
  readonly #steps: string[] = [];
  readonly #counts = new Map<string, number>();
  #isStruck = false;
  #seen: { status: string; version: number } = { status: "", version: 0 };

  constructor(scenario: Scenario, mishap: { step: string; mishap: Mishap } | null, wire: Wire, parties: Parties) {
    this.scenario = scenario;
    this.wire = wire;
    this.#mishap = mishap;
    this.nodeToken = parties.nodeToken;
    this.#client = basic(parties.clientKey);
    this.#nodes = ["a", "b"].map((name) => new ScriptedNode(this, `${name}-${this.#folder}`));
  }

  async run(): Promise<Run> {
    for (const node of this.#nodes) await node.connect();
    await this.#calm();
    const jobId = await this.#ask();
    for (let turn = 0; turn < MOST_TURNS; turn++) {
      await this.#calm();
      const { state, alarmAt } = await readJob(jobId);
      await this.#compare(jobId);
      if (state && this.#hasEnded(state, alarmAt)) return this.#told(jobId, state);
      await this.#wait(jobId, alarmAt);
    }
    throw new Error(`It comes to no end: ${JSON.stringify((await readJob(jobId)).state)}`);
  }

  async leave(): Promise<void> {
    for (const node of this.#nodes) node.die();
    await this.#calm().catch(() => {});
  }

  async step(name: string): Promise<Mishap | null> {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    const step = `${name}#${count}`;
    this.#steps.push(step);
    if (this.#mishap?.step !== step || this.#isStruck) return null;
    this.#isStruck = true;
    return this.#befall(this.#mishap.mishap);
  }

  async cancel(): Promise<void> {
    const jobId = this.wire.jobId ?? "";
    const { status, body } = await this.#insist(`/v2/jobs/${jobId}`, { method: "DELETE" });
    if (status !== 200 && status !== 409) throw new Error(`Not cancelled: ${JSON.stringify(body)}`);
  }

  /** Mishaps of the control plane happen here; those of nodes are handed back. */
  async #befall(mishap: Mishap): Promise<Mishap | null> {
    const job = stubOf(this.wire.jobId ?? "");
    switch (mishap) {
      case "job evicted":
        await evictDurableObject(job).catch(() => {});
        return null;
      case "hub evicted":
        await evictDurableObject(hubStub(this.wire)).catch(() => {});
        return null;
      case "sockets closed":
        await evictDurableObject(hubStub(this.wire), { webSockets: "close" }).catch(() => {});
        return null;
      case "alarm lost":
        await runInDurableObject(job, (_, { storage }) => storage.deleteAlarm());
        return null;
      case "alarm early":
        await runDurableObjectAlarm(job);
        return null;
      case "alarm twice":
        await Promise.all([1, 2].map(() => runInDurableObject(job, (object) => (object as JobObject).alarm())));
        return null;
      default:
        return mishap;
    }
  }

  /** Asks for the job until it is answered, as clients with an Idempotency-Key may. */
  async #ask(): Promise<string> {
    const headers = { "idempotency-key": this.#folder };
    const { status, body } = await this.#insist("/v2/jobs", {
      ...{ method: "POST", headers, body: this.scenario.request(this.#folder) },
    });
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body.id;
  }

  async #insist(path: string, { headers = {}, ...sent }: NonNullable<Parameters<typeof send>[1]>) {
    for (let attempt = 1; ; attempt++) {
      const answer = await send(path, { ...sent, headers: { ...this.#client, ...headers } });
      if (answer.status < 500 || attempt === 5) return answer;
      await pause();
    }
  }

  /** Waits until nothing is under way: what is left waits for time to pass. */
  async #calm(): Promise<void> {
    const limit = performance.now() + STUCK_MS;
    for (let calm = 0; calm < CALM_TURNS; ) {
      if (this.complaints.length > 0) throw this.complaints[0];
      if (performance.now() > limit) throw new Error(`Something never ends: ${JSON.stringify(this.#busy())}`);
      await new Promise((resolve) => setTimeout(resolve, 1));
      const { calls, tasks } = this.#busy();
      calm = calls > 0 || tasks > 0 ? 0 : calm + 1;
    }
  }

  #busy(): { calls: number; tasks: number } {
    const working = this.#nodes.reduce((sum, node) => sum + node.working, 0);
    return { calls: this.wire.pending, tasks: working - this.clock.sleepers };
  }

  #hasEnded(state: JobState, alarmAt: number | null): boolean {
    const isTold = state.outbox.every((delivery) => delivery.state !== "due");
    const isDone = isTerminalJob(state.status) && isTold && this.clock.sleepers === 0;
    return isDone && alarmAt !== null && alarmAt > this.clock.now + DAY_MS;
  }

  /** Lets time pass until the next alarm, and rings it. */
  async #wait(jobId: string, jobAt: number | null): Promise<void> {
    const hubAt = await runInDurableObject(hubStub(this.wire), (_, { storage }) => storage.getAlarm());
    const times = [jobAt, hubAt, this.clock.nextAt].filter((time) => time !== null);
    if (jobAt === null && this.clock.sleepers === 0) {
      if (this.#mishap?.mishap !== "alarm lost") throw new Error("The job has no alarm");
      return this.#sweep(jobId);
    }
    if (times.length > 0) this.clock.jump(Math.min(...times));
    // An object that dies amid its alarm has set the next one before.
    if (jobAt !== null && jobAt <= this.clock.now) await runDurableObjectAlarm(stubOf(jobId)).catch(() => {});
    if (hubAt !== null && hubAt <= this.clock.now) await runDurableObjectAlarm(hubStub(this.wire)).catch(() => {});
  }

  /** A job whose alarm was lost is found by the sweeper when its row's time comes. */
  async #sweep(jobId: string): Promise<void> {
    await env.DB.prepare("UPDATE jobs SET check_at = 1 WHERE id = ?").bind(jobId).all();
    await sweep(env, this.clock.now);
  }

  /** What the index says never goes back, and an end is an end. */
  async #compare(jobId: string): Promise<void> {
    const query = env.DB.prepare("SELECT status, version FROM jobs WHERE id = ?").bind(jobId);
    const row = await query.first<{ status: string; version: number }>();
    if (!row) throw new Error("The job is not in the index");
    const before = this.#seen;
    const hasRisen =
      ["job.completed", "job.failed", "job.aborted"].includes(before.status) && row.status !== before.status;
    if (row.version < before.version || hasRisen) {
      throw new Error(`The index goes back from ${JSON.stringify(before)} to ${JSON.stringify(row)}`);
    }
    this.#seen = row;
  }

  async #told(jobId: string, state: JobState): Promise<Run> {
    const { body } = await this.#insist(`/v2/jobs/${jobId}`, {});
    const { id: _id, created_at: _created, completed_at: _completed, ...view } = body;
    const { wire } = this;
    // Nothing happens any more to who looks at the end.
    newWire(null);
    return {
      ...{ jobId, wire, state, steps: this.#steps, hasStruck: this.#isStruck || wire.hasStruck },
      view: JSON.parse(JSON.stringify(view).replaceAll(jobId, "<job>").replaceAll(this.#folder, "<folder>")),
    };
  }
}
