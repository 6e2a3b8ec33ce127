// The object of one job: loads the state, has it decided on, saves it, then acts. Decisions are in the pure files beside.
import { DurableObject } from "cloudflare:workers";
import { AppError, type ErrorCode } from "#shared/errors.ts";
import { type LeaseId, newToken } from "#shared/ids.ts";
import type { JobView } from "#shared/job-view.ts";
import { messageOf } from "#shared/log.ts";
import type {
  Assignment,
  CompleteReport,
  FailReport,
  LeaseProof,
  ProgressItem,
  SlotClass,
  UploadsAnswer,
  UploadsRequest,
} from "#shared/protocol.ts";
import { type Env, log, settingsOf } from "../env.ts";
import { grantUploads } from "./grant-uploads.ts";
import { effectDone, effectFailed, nextAlarmAt, pendingEffects } from "./job-effects.ts";
import { openJobSecrets } from "./job-secrets.ts";
import { type JobSpec, type JobState, newJob } from "./job-state.ts";
import { loadState, saveState } from "./job-store.ts";
import { jobPercent, viewJob, viewMetadata } from "./job-view.ts";
import { claimTasks, expireLeases, judge, recordProgress, renewLease, suspectSession } from "./leases.ts";
import { completeTask, failTask, recordUploads } from "./reports.ts";
import { runEffect } from "./run-effect.ts";

/** An answer across RPC, where thrown errors would lose their class: the value, or a code of the error table. */
export type Answer<Value> = { ok: true; value: Value } | { ok: false; code: ErrorCode; message: string };

const SUPERSEDED = {
  ok: false,
  code: "lease_superseded",
  message: "This lease is no longer valid: stop the work and forget it",
} as const;
const UNKNOWN = { ok: false, code: "job_not_found", message: "There is no such job" } as const;

/** If the object dies amid an alarm's work, it rings again after this long. */
const DEAD_MAN_MS = 60_000;
/** Grace for the leases of a node whose connection is gone: time enough to reconnect. */
const SUSPECT_GRACE_MS = 10_000;
/** Lossy progress is saved when the lease on disk has less than this left to live. */
const SAVE_LEASE_BELOW_MS = 30_000;

export class JobObject extends DurableObject<Env> {
  #state: JobState | null;
  /** The state as it lies on disk; `#state` may be ahead of it by lossy progress. */
  #saved: JobState | null;
  #inFlight = new Set<string>();
  #armedAt: number | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#state = loadState(ctx.storage.kv);
    this.#saved = this.#state;
  }

  /** Begins the job; a repeated call changes nothing. */
  async create(spec: JobSpec): Promise<JobView> {
    this.#state ??= newJob(spec);
    this.#commit(this.#state);
    return viewJob(this.#state);
  }

  /** Grants up to `max` runnable tasks of a class to a node. */
  async claim(nodeId: string, session: string, slotClass: SlotClass, max: number): Promise<Assignment[]> {
    if (!this.#state) return [];
    const tokens = Array.from({ length: max }, () => newToken(randomBytes));
    const claimed = claimTasks(this.#state, { nodeId, session, slotClass, max, tokens }, Date.now());
    this.#commit(claimed.state);
    return claimed.assignments;
  }

  /** Takes lossy progress; answers the leases that the node must drop. */
  async progress(items: ProgressItem[]): Promise<LeaseId[]> {
    return this.#renewAll(items, recordProgress);
  }

  /** A node came back and still works on these; answers those that it must drop. */
  async renew(proofs: LeaseProof[]): Promise<LeaseId[]> {
    return this.#renewAll(proofs, renewLease);
  }

  /** The hub lost the connection of a node's session. */
  async suspect(session: string): Promise<void> {
    if (this.#state) this.#commit(suspectSession(this.#state, session, SUSPECT_GRACE_MS, Date.now()));
  }

  /** Signs uploads for files of a lease's task. */
  async uploads(lease: LeaseId, { token, files }: UploadsRequest): Promise<Answer<UploadsAnswer>> {
    const before = this.#state && renewLease(this.#state, { lease, token }, Date.now());
    if (before?.verdict !== "current" || !before.task) return SUPERSEDED;
    this.#commit(before.state);
    const { spec } = before.state;
    const outputs = spec.outputs.filter(({ index }) => before.task?.outputs.includes(index));
    try {
      const { credentials } = await openJobSecrets(spec.id, spec.sealedSecrets, settingsOf(this.env).sealingKeys);
      const bucket = { storage: spec.storage, credentials };
      const granted = await grantUploads(bucket, outputs, files, before.task.uploads);
      const { verdict, task } = judge(this.#live(), { lease, token });
      if (verdict !== "current" || !task) return SUPERSEDED;
      const uploads = Object.fromEntries(Object.entries(granted).map(([key, { upload }]) => [key, upload]));
      this.#commit(recordUploads(this.#live(), task.id, uploads));
      return { ok: true, value: { uploads: Object.values(granted).map(({ ticket }) => ticket) } };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === "report_not_valid") return { ok: false, code: error.code, message: error.message };
      return { ok: true, value: { failure: { code: error.code, message: error.message } } };
    }
  }

  /** A lease's work is done; the same report twice is fine. */
  async complete(lease: LeaseId, { token, result }: CompleteReport): Promise<Answer<null>> {
    return this.#report({ lease, token }, (state, taskId) => completeTask(state, taskId, result, Date.now()));
  }

  /** A lease's work failed. */
  async fail(lease: LeaseId, { token, failure }: FailReport): Promise<Answer<null>> {
    return this.#report({ lease, token }, (state, taskId) => failTask(state, taskId, failure, Date.now()));
  }

  /** The job as its client sees it. What was shown is kept, so that progress never goes back. */
  async view(): Promise<Answer<JobView>> {
    if (!this.#state) return UNKNOWN;
    const shownPercent = jobPercent(this.#state);
    if (shownPercent > this.#state.shownPercent) this.#save({ ...this.#state, shownPercent });
    return { ok: true, value: viewJob(this.#state) };
  }

  /** All metadata that is known so far, in JSON. */
  async metadata(): Promise<Answer<string>> {
    if (!this.#state) return UNKNOWN;
    return { ok: true, value: JSON.stringify(viewMetadata(this.#state)) };
  }

  override async alarm(): Promise<void> {
    // Armed before the work: if the object dies amid it, the alarm rings again.
    await this.#armAt(Date.now() + DEAD_MAN_MS, true);
    try {
      if (this.#state) this.#save(expireLeases(this.#state, Date.now()));
      await this.#act(true);
    } catch (error) {
      log.error("Alarm failed", { job: this.ctx.id.name, error: messageOf(error) });
    }
    await this.#arm(true);
  }

  #live(): JobState {
    if (!this.#state) throw new AppError("job_not_found", UNKNOWN.message);
    return this.#state;
  }

  #report(proof: LeaseProof, take: (state: JobState, taskId: string) => JobState): Answer<null> {
    if (!this.#state) return SUPERSEDED;
    const { state, verdict, task } = renewLease(this.#state, proof, Date.now());
    if (verdict === "superseded" || !task) return SUPERSEDED;
    if (verdict === "current") this.#commit(take(state, task.id));
    return { ok: true, value: null };
  }

  #renewAll<Item extends LeaseProof>(
    items: readonly Item[],
    renew: (state: JobState, item: Item, now: number) => { state: JobState; verdict: string },
  ): LeaseId[] {
    const now = Date.now();
    const dropped: LeaseId[] = [];
    for (const item of items) {
      const renewed = this.#state && renew(this.#state, item, now);
      if (renewed) this.#state = renewed.state;
      if (renewed?.verdict !== "current") dropped.push(item.lease);
    }
    if (this.#state && this.#worthSaving(this.#state, now)) this.#commit(this.#state);
    return dropped;
  }

  /** Whether lossy progress must reach the disk: a status changed, or a lease on disk runs out soon. */
  #worthSaving(state: JobState, now: number): boolean {
    if (
      state.input !== this.#saved?.input ||
      state.outputs.some(({ phase }, i) => phase !== this.#saved?.outputs[i]?.phase)
    ) {
      return true;
    }
    return this.#saved.tasks.some(
      ({ phase, grant }) => phase === "leased" && (grant?.expiresAt ?? 0) < now + SAVE_LEASE_BELOW_MS,
    );
  }

  #save(state: JobState): void {
    saveState(this.ctx.storage.kv, this.#saved, state);
    this.#state = state;
    this.#saved = state;
  }

  /** Saves, then acts on what the new state owes, without keeping the caller waiting. */
  #commit(state: JobState): void {
    this.#save(state);
    this.ctx.waitUntil(this.#act(false).then(() => this.#arm(false)));
  }

  /** Carries out all due effects until none is left; notifications only within an alarm, whose time is theirs to spend. */
  async #act(inAlarm: boolean): Promise<void> {
    for (;;) {
      const now = Date.now();
      const due = (this.#state ? pendingEffects(this.#state) : []).filter(
        ({ name, dueAt, effect }) =>
          dueAt <= now && !this.#inFlight.has(name) && (inAlarm || effect.kind !== "deliver"),
      );
      if (due.length === 0) return;
      await Promise.all(due.map((pending) => this.#run(pending)));
    }
  }

  async #run({ name, effect }: ReturnType<typeof pendingEffects>[number]): Promise<void> {
    this.#inFlight.add(name);
    try {
      await runEffect(effect, {
        env: this.env,
        state: () => this.#live(),
        apply: (change) => this.#save(change(this.#live())),
        now: Date.now,
        purge: () => this.#purge(),
      });
      if (this.#state) this.#save(effectDone(this.#state, name));
    } catch (error) {
      log.warn("Effect failed", { job: this.ctx.id.name, effect: name, error: messageOf(error) });
      if (this.#state) this.#save(effectFailed(this.#state, name, Date.now(), Math.random));
    } finally {
      this.#inFlight.delete(name);
    }
  }

  async #purge(): Promise<void> {
    await this.ctx.storage.deleteAll();
    this.#state = null;
    this.#saved = null;
  }

  /** Sets the alarm for what is due next. An alarm that rings too early only looks and arms again. */
  async #arm(always: boolean): Promise<void> {
    // What is under way rings only if it never comes to an end.
    const ends = (name: string): number => (this.#inFlight.has(name) ? Date.now() + DEAD_MAN_MS : 0);
    const at = this.#state && nextAlarmAt(this.#state, ends);
    if (at === null) {
      if (always) await this.ctx.storage.deleteAlarm();
      this.#armedAt = null;
      return;
    }
    await this.#armAt(at, always);
  }

  async #armAt(at: number, always: boolean): Promise<void> {
    if (!always && this.#armedAt !== null && this.#armedAt <= at && this.#armedAt > Date.now()) return;
    this.#armedAt = at;
    await this.ctx.storage.setAlarm(at);
  }
}

const randomBytes = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count));
