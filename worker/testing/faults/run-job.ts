// Runs a job from its request to its last notification, with at most one fault. When nothing is running, the test sets
// the time to the next alarm.
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { isTerminalJob } from "#shared/job/job-status.ts";
import type { JobObject } from "../../job/job-object.ts";
import type { JobState } from "../../job/state/job-state.ts";
import { sweep } from "../../sweep.ts";
import { basic, send } from "../jobs.ts";
import { loadState } from "../stored-state.ts";
import { AccountListener, type Heard } from "./account-listener.ts";
import { Clock } from "./clock.ts";
import { direct, type FaultyCall, newWire, type Wire } from "./fault-points.ts";
import type { Scenario } from "./scenarios.ts";
import type { StepFault, World } from "./scripted-lease.ts";
import { pause, ScriptedNode } from "./scripted-node.ts";

export type Fault = { readonly faultyCall: FaultyCall } | { readonly step: string; readonly kind: StepFault };

/** The result of a run. */
export type Run = {
  readonly jobId: string;
  readonly wire: Wire;
  /** The names of all steps, in order. */
  readonly steps: readonly string[];
  readonly state: JobState;
  /** The job as its client sees it, without values that differ between runs. */
  readonly view: unknown;
  readonly isInjected: boolean;
  /** Events that a listener to the account's events received; null: nobody listened. */
  readonly heard: Heard | null;
};

/** Credentials that all runs share. */
export type Parties = { readonly accountId: string; readonly clientKey: string; readonly nodeToken: string };

const DAY_MS = 24 * 60 * 60_000;
/** A job with a fault takes about twenty turns. */
const MAX_TURNS = 150;
/** Longer than any slow machine needs. */
const STUCK_MS = 20_000;
/** The run is calm if nothing is running for this many turns of the event loop. Sent frames arrive within them. */
const CALM_TURNS = 5;

export async function runJob(scenario: Scenario, fault: Fault | null, parties: Parties): Promise<Run> {
  const faultyCall = fault && "faultyCall" in fault ? fault.faultyCall : null;
  const driver = new Driver(scenario, fault && "step" in fault ? fault : null, newWire(faultyCall), parties);
  try {
    return await driver.run();
  } finally {
    await driver.leave();
  }
}

const stubOf = (jobId: string): DurableObjectStub<JobObject> => direct.stub(env.JOB, jobId);
const hubStub = (wire: Wire) => direct.stub(env.HUB, wire.hub);

/** The job's state on disk, and the time of its alarm. */
const readJob = (jobId: string): Promise<{ state: JobState | null; alarmAt: number | null }> =>
  runInDurableObject(stubOf(jobId), async (_, { storage }) => {
    return { state: loadState(storage), alarmAt: await storage.getAlarm() };
  });

class Driver implements World {
  readonly scenario: Scenario;
  readonly wire: Wire;
  readonly clock = new Clock();
  readonly nodeToken: string;
  readonly errors: unknown[] = [];
  readonly #folder = crypto.randomUUID();
  readonly #client: Record<string, string>;
  readonly #stepFault: { step: string; kind: StepFault } | null;
  readonly #nodes: ScriptedNode[];
  readonly #steps: string[] = [];
  readonly #counts = new Map<string, number>();
  readonly #listener: AccountListener | null;
  #isInjected = false;
  #seen: { status: string; version: number } = { status: "", version: 0 };

  constructor(scenario: Scenario, kind: { step: string; kind: StepFault } | null, wire: Wire, parties: Parties) {
    this.scenario = scenario;
    this.wire = wire;
    this.#stepFault = kind;
    this.nodeToken = parties.nodeToken;
    this.#client = basic(parties.clientKey);
    this.#listener = scenario.isListened ? new AccountListener(`account:${parties.accountId}:${wire.hub}`) : null;
    this.#nodes = ["a", "b"].map((name) => new ScriptedNode(this, `${name}-${this.#folder}`));
  }

  async run(): Promise<Run> {
    for (const node of this.#nodes) await node.connect();
    await this.#listener?.listen();
    await this.#settle();
    const jobId = await this.#create();
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      await this.#settle();
      const { state, alarmAt } = await readJob(jobId);
      await this.#compare(jobId);
      if (state && this.#hasEnded(state, alarmAt)) return this.#result(jobId, state);
      await this.#wait(jobId, alarmAt);
    }
    throw new Error(`The job does not end: ${JSON.stringify((await readJob(jobId)).state)}`);
  }

  async leave(): Promise<void> {
    for (const node of this.#nodes) node.die();
    await this.#settle().catch(() => {});
  }

  async step(name: string): Promise<StepFault | null> {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    const step = `${name}#${count}`;
    this.#steps.push(step);
    if (this.#stepFault?.step !== step || this.#isInjected) return null;
    this.#isInjected = true;
    return this.#inject(this.#stepFault.kind);
  }

  async cancel(): Promise<void> {
    const jobId = this.wire.jobId ?? "";
    const { status, body } = await this.#sendUntilAnswered(`/v2/jobs/${jobId}`, { method: "DELETE" });
    if (status !== 200 && status !== 409) throw new Error(`Not cancelled: ${JSON.stringify(body)}`);
  }

  /** Injects faults of the control plane, and returns faults of nodes. */
  async #inject(kind: StepFault): Promise<StepFault | null> {
    const job = stubOf(this.wire.jobId ?? "");
    switch (kind) {
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
        return kind;
    }
  }

  /** Creates the job with retries, like a client with an Idempotency-Key. */
  async #create(): Promise<string> {
    const headers = { "idempotency-key": this.#folder };
    const { status, body } = await this.#sendUntilAnswered("/v2/jobs", {
      method: "POST",
      headers,
      body: this.scenario.request(this.#folder),
    });
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body.id;
  }

  async #sendUntilAnswered(path: string, { headers = {}, ...sent }: NonNullable<Parameters<typeof send>[1]>) {
    for (let attempt = 1; ; attempt++) {
      const answer = await send(path, { ...sent, headers: { ...this.#client, ...headers } });
      if (answer.status < 500 || attempt === 5) return answer;
      await pause();
    }
  }

  /** Waits until nothing is running. Code that waits for the time does not count. */
  async #settle(): Promise<void> {
    const limit = performance.now() + STUCK_MS;
    for (let calm = 0; calm < CALM_TURNS; ) {
      if (this.errors.length > 0) throw this.errors[0];
      if (performance.now() > limit) throw new Error(`Calls or tasks do not end: ${JSON.stringify(this.#busy())}`);
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
    const isNotified = state.outbox.every((delivery) => delivery.state !== "due");
    const isDone = isTerminalJob(state.status) && isNotified && this.clock.sleepers === 0;
    return isDone && alarmAt !== null && alarmAt > this.clock.now + DAY_MS;
  }

  /** Sets the time to the next alarm, and rings it. */
  async #wait(jobId: string, jobAt: number | null): Promise<void> {
    const hubAt = await runInDurableObject(hubStub(this.wire), (_, { storage }) => storage.getAlarm());
    const times = [jobAt, hubAt, this.clock.nextAt].filter((time) => time !== null);
    if (jobAt === null && this.clock.sleepers === 0) {
      if (this.#stepFault?.kind !== "alarm lost") throw new Error("The job has no alarm");
      return this.#sweep(jobId);
    }
    if (times.length > 0) this.clock.jump(Math.min(...times));
    // An object that dies during its alarm has already set its next alarm.
    if (jobAt !== null && jobAt <= this.clock.now) await runDurableObjectAlarm(stubOf(jobId)).catch(() => {});
    if (hubAt !== null && hubAt <= this.clock.now) await runDurableObjectAlarm(hubStub(this.wire)).catch(() => {});
  }

  /** Lets the sweeper find a job whose alarm was lost, when the job's check is due. */
  async #sweep(jobId: string): Promise<void> {
    await env.DB.prepare("UPDATE jobs SET check_at = 1 WHERE id = ?").bind(jobId).all();
    await sweep(env, this.clock.now);
  }

  /** Checks that versions in the index never decrease, and that an ended job stays ended. */
  async #compare(jobId: string): Promise<void> {
    const query = env.DB.prepare("SELECT status, version FROM jobs WHERE id = ?").bind(jobId);
    const row = await query.first<{ status: string; version: number }>();
    if (!row) throw new Error("The job is not in the index");
    const before = this.#seen;
    const hasRisen =
      ["job.completed", "job.failed", "job.aborted"].includes(before.status) && row.status !== before.status;
    if (row.version < before.version || hasRisen) {
      throw new Error(`The index went back from ${JSON.stringify(before)} to ${JSON.stringify(row)}`);
    }
    this.#seen = row;
  }

  async #result(jobId: string, state: JobState): Promise<Run> {
    const { body } = await this.#sendUntilAnswered(`/v2/jobs/${jobId}`, {});
    const { id: _id, created_at: _created, completed_at: _completed, started_at: _started, ...view } = body;
    const { wire } = this;
    // No faults while the result is read.
    newWire(null);
    return {
      jobId,
      wire,
      state,
      heard: (await this.#listener?.heard()) ?? null,
      steps: this.#steps,
      isInjected: this.#isInjected || wire.isInjected,
      view: JSON.parse(JSON.stringify(view).replaceAll(jobId, "<job>").replaceAll(this.#folder, "<folder>")),
    };
  }
}
