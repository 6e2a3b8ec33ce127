// The object of one job: loads the state, has it decided on, saves it, then acts. Decisions are in the pure files beside.
import { DurableObject } from "cloudflare:workers";
import { AppError, type Failure } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import type { JobView } from "#shared/job/job-view.ts";
import { messageOf } from "#shared/log.ts";
import type {
  Assignment,
  CompleteReport,
  FailReport,
  LeaseProof,
  OutputsReport,
  ProgressItem,
  ScratchAnswer,
  ScratchRequest,
  SlotClass,
  UploadsAnswer,
  UploadsRequest,
} from "#shared/protocol/protocol.ts";
import { type Env, hubOf, log, settingsOf } from "../env.ts";
import { newLeaseTokens } from "../lease-token.ts";
import { type DeliveryView, replay, viewDelivery } from "../notify/outbox.ts";
import { randomBytes } from "../random-bytes.ts";
import type { UploadHolder } from "../storage/builtin/builtin-signature.ts";
import { openStore } from "../storage/object-store.ts";
import { openScratch } from "../storage/scratch/scratch.ts";
import { cancelJob, retryJob } from "./decide/client-moves.ts";
import {
  claimTasks,
  judge,
  mayStore,
  type Renewal,
  recordProgress,
  renewAll,
  renewLease,
  runnableTasks,
  suspectSession,
} from "./decide/leases.ts";
import { takeOutputs } from "./decide/output-reports.ts";
import { completeTask } from "./decide/reports.ts";
import { failTask } from "./decide/task-ends.ts";
import { EffectRunner } from "./effects/effect-runner.ts";
import { indexBehind } from "./effects/job-effects.ts";
import { JobEvents } from "./events/job-events.ts";
import { type Answer, conflict, REFUSED, replayedBefore } from "./job-answer.ts";
import { withAddresses } from "./secrets/extra-urls.ts";
import { openJobSecrets, resealJobSecrets } from "./secrets/job-secrets.ts";
import { madeKeys, openForTask } from "./secrets/task-secrets.ts";
import { JobMemory } from "./state/job-memory.ts";
import { JobSpec, type JobState, newJob } from "./state/job-state.ts";
import { grantScratch } from "./uploads/sign-scratch.ts";
import { grantUploads } from "./uploads/sign-uploads.ts";
import { viewJob, viewMetadata } from "./views/job-view.ts";

/** Grace for the leases of a node whose connection is gone: time enough to reconnect. */
const SUSPECT_GRACE_MS = 10_000;

const ASSUMED_SLOTS = 4;

/** So often a result may be sent that causes an internal error; then its task has failed. */
const MAX_BROKEN = 5;
const NOT_TAKEN: Failure = {
  code: "node_failed",
  message: "The service could not work with the encoder node's result",
};
const NO_SCRATCH: Failure = { code: "node_failed", message: "The service has no scratch storage any more" };

export class JobObject extends DurableObject<Env> {
  readonly #memory: JobMemory;
  readonly #events: JobEvents;
  readonly #effects: EffectRunner;
  /** How often a result of a lease could not be worked with. */
  readonly #broken = new Map<LeaseId, number>();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#memory = new JobMemory(ctx.storage, () => this.#events.wake());
    this.#events = new JobEvents(() => this.#memory.show("in memory"));
    this.#effects = new EffectRunner(ctx, env, this.#memory);
  }

  /** Begins the job; a repeated call changes nothing. */
  async create(spec: JobSpec): Promise<void> {
    // Parsed as it will be when it is read back: what could not be read again must not be begun.
    this.#commit(this.#memory.state ?? newJob(JobSpec.parse(spec)));
  }

  /** Grants up to `max` runnable tasks of a class to a node. */
  async claim(nodeId: string, session: string, slotClass: SlotClass, max: number): Promise<Assignment[]> {
    const before = this.#memory.state;
    if (before && runnableTasks(before, slotClass).length === 0) {
      // A hub may ask for what is taken by now: secrets are opened only for what there is.
      this.#commit(before);
      return [];
    }
    const opened = before && (await openForTask(before.spec, settingsOf(this.env)));
    // Others may have changed the job while its secrets were opened.
    const { state } = this.#memory;
    if (!state || !opened) return [];
    const tokens = newLeaseTokens(max, state.spec.id, settingsOf(this.env).sealingKeys, randomBytes);
    const { addresses, ...secrets } = opened;
    const claimed = claimTasks(state, { nodeId, session, slotClass, max, tokens, ...secrets }, Date.now());
    this.#commit(claimed.state);
    return claimed.assignments.map((one) => ({ ...one, task: withAddresses(one.task, addresses) }));
  }

  /** Takes lossy progress; answers the leases that the node must drop. */
  async progress(items: ProgressItem[]): Promise<LeaseId[]> {
    return this.#renewAll(items, recordProgress);
  }

  /** A node came back and still works on these; answers those that it must drop, and whose the job is. */
  async renew(proofs: LeaseProof[]): Promise<{ accountId: string | null; dropped: LeaseId[] }> {
    const dropped = this.#renewAll(proofs, renewLease);
    return { accountId: this.#memory.state?.spec.accountId ?? null, dropped };
  }

  /** The hub lost the connection of a node's session. */
  async suspect(session: string): Promise<void> {
    const { state } = this.#memory;
    if (state) this.#commit(suspectSession(state, session, SUSPECT_GRACE_MS, Date.now()));
  }

  /** Signs uploads for files of a lease's task. */
  async uploads(lease: LeaseId, { token, files }: UploadsRequest): Promise<Answer<UploadsAnswer>> {
    const { state } = this.#memory;
    // A stream's thousands of files are asked for all the time: no more is written than for any other sign of life.
    if (!state || this.#renewAll([{ lease, token }], renewLease).length > 0) return REFUSED.superseded;
    try {
      const { spec } = state;
      const secrets = await openJobSecrets(spec, settingsOf(this.env).sealingKeys);
      const store = openStore(spec, secrets.storage, this.env);
      const deps = { state: () => this.#memory.live(), save: (next: JobState) => this.#commit(next) };
      const uploads = await grantUploads(store, { lease, token }, files, deps);
      return uploads ? { ok: true, value: { uploads } } : REFUSED.superseded;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === "report_not_valid") return { ok: false, code: error.code, message: error.message };
      return { ok: true, value: { failure: { code: error.code, message: error.message } } };
    }
  }

  /** Whether an upload that was signed for a lease may be stored now, in the service's own storage. */
  async mayStore({ lease, output }: UploadHolder): Promise<boolean> {
    const { state } = this.#memory;
    return state !== null && mayStore(state, lease, output);
  }

  /** Signs requests on the job's scratch folder for a lease's task. */
  async scratch(lease: LeaseId, { token, ...asked }: ScratchRequest): Promise<Answer<ScratchAnswer>> {
    const { state } = this.#memory;
    if (!state || this.#renewAll([{ lease, token }], renewLease).length > 0) return REFUSED.superseded;
    const { task } = judge(state, { lease, token });
    const settings = settingsOf(this.env).scratch;
    if (!task) return REFUSED.superseded;
    // The task fails by it, and the film is encoded whole.
    if (!settings) return { ok: true, value: { failure: NO_SCRATCH } };
    try {
      const store = openScratch(settings, state.spec.id, state.scratch.folder);
      return { ok: true, value: await grantScratch(state, task, asked, store) };
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "report_not_valid") throw error;
      return { ok: false, code: error.code, message: error.message };
    }
  }

  /** Outputs of a lease's task are made, or cannot be, while it goes on; the same report twice is fine. */
  async outputs(lease: LeaseId, { token, outputs }: OutputsReport): Promise<Answer<null>> {
    const judged = this.#memory.state && judge(this.#memory.state, { lease, token });
    if (!judged || judged.verdict === "superseded") return REFUSED.superseded;
    const kind = judged.task?.kind ?? "chunk";
    if (kind !== "encode") {
      return {
        ok: false,
        code: "report_not_valid",
        message: `A task to ${kind} reports its outputs when it completes`,
      };
    }
    return this.#report({ lease, token }, (state, taskId) => takeOutputs(state, taskId, outputs, Date.now()));
  }

  /** A lease's work is done; the same report twice is fine. */
  async complete(lease: LeaseId, { token, result }: CompleteReport): Promise<Answer<null>> {
    const judged = this.#memory.state && judge(this.#memory.state, { lease, token });
    // Who has no lease learns nothing of the task, not even that it is there.
    if (!judged || judged.verdict === "superseded") return REFUSED.superseded;
    const kind = judged.task?.kind ?? result.kind;
    if (kind !== result.kind) return { ok: false, code: "report_not_valid", message: `This task is to ${kind}` };
    const slots = result.kind === "inspect" && result.chunking?.ok ? await this.#slots() : 1;
    try {
      return this.#report({ lease, token }, (state, taskId) => completeTask(state, taskId, result, Date.now(), slots));
    } catch (error) {
      const count = (this.#broken.get(lease) ?? 0) + 1;
      this.#broken.set(lease, count);
      // It may be a fault that passes; but a node tells of a result until it is taken.
      if (count < MAX_BROKEN) throw error;
      log.error("Result given up", { job: this.ctx.id.name, lease, error: messageOf(error) });
      return this.fail(lease, { token, failure: NOT_TAKEN });
    }
  }

  /** A lease's work failed. */
  async fail(lease: LeaseId, { token, failure }: FailReport): Promise<Answer<null>> {
    return this.#report({ lease, token }, (state, taskId) => failTask(state, taskId, failure, Date.now()));
  }

  /** The job as its client sees it. */
  async view(): Promise<Answer<JobView>> {
    const value = this.#memory.show("on disk");
    return value ? { ok: true, value } : REFUSED.unknownJob;
  }

  /** Server-sent events that follow the job to its end. */
  async events(): Promise<Answer<ReadableStream<Uint8Array>>> {
    if (!this.#memory.state) return REFUSED.unknownJob;
    const value = this.#events.open();
    return value ? { ok: true, value } : REFUSED.tooManyFollowers;
  }

  /** All metadata that is known so far, in JSON. */
  async metadata(): Promise<Answer<string>> {
    const { state } = this.#memory;
    if (!state) return REFUSED.unknownJob;
    try {
      return { ok: true, value: JSON.stringify(viewMetadata(state, await madeKeys(state.spec, settingsOf(this.env)))) };
    } catch (error) {
      if (error instanceof AppError) return { ok: false, code: error.code, message: error.message };
      throw error;
    }
  }

  /** Ends the job by its client's will. */
  async cancel(): Promise<Answer<JobView>> {
    const { state } = this.#memory;
    if (!state) return REFUSED.unknownJob;
    const cancelled = cancelJob(state, Date.now());
    if (!cancelled) return conflict(`The job has ended already: ${state.status}`);
    this.#commit(cancelled);
    return { ok: true, value: viewJob(cancelled) };
  }

  /** Begins an ended job anew for what it did not finish; answers the version that the index must learn of. */
  async retry(): Promise<Answer<{ view: JobView; version: number }>> {
    const { state } = this.#memory;
    if (!state) return REFUSED.unknownJob;
    const begun = retryJob(state, Date.now());
    if (!begun) return conflict(`The job cannot be retried: ${state.status}`);
    this.#commit(begun);
    return { ok: true, value: { view: viewJob(begun), version: begun.version } };
  }

  /** The log of the job's notifications. */
  async notifications(): Promise<Answer<DeliveryView[]>> {
    const { state } = this.#memory;
    return state ? { ok: true, value: state.outbox.map(viewDelivery) } : REFUSED.unknownJob;
  }

  /** Sends one notification again. */
  async replay(id: string): Promise<Answer<DeliveryView>> {
    const { state } = this.#memory;
    if (!state) return REFUSED.unknownJob;
    const again = replay(state.outbox, id, Date.now());
    if (!again) return REFUSED.unknownNotification;
    if ("waitMs" in again) return replayedBefore(again.waitMs);
    this.#commit({ ...state, outbox: again.outbox });
    return { ok: true, value: viewDelivery(again.replayed) };
  }

  /** Seals the job's secrets with the newest key; false when they were or the job is no longer kept. */
  async reseal(): Promise<Answer<boolean>> {
    const before = this.#memory.state;
    if (!before) return { ok: true, value: false };
    try {
      const sealedSecrets = await resealJobSecrets(before.spec, settingsOf(this.env).sealingKeys);
      // Others may have changed the job meanwhile, but not its secrets.
      const { state } = this.#memory;
      if (!state || sealedSecrets === state.spec.sealedSecrets) return { ok: true, value: false };
      this.#commit({ ...state, spec: { ...state.spec, sealedSecrets } });
      return { ok: true, value: true };
    } catch (error) {
      if (error instanceof AppError) return { ok: false, code: error.code, message: error.message };
      throw error;
    }
  }

  /**
   * Asks after the job, whatever became of its alarm. `rowVersion` is what the index has: a row that is behind is written
   * again. Answers when to ask again, in ms since 1970; null when nothing is kept of the job.
   */
  async kick(rowVersion: number): Promise<number | null> {
    if (!this.#memory.isUnreadable) {
      const { state } = this.#memory;
      if (!state) return null;
      this.#memory.save(indexBehind(state, rowVersion));
    }
    await this.#effects.revive();
    return this.#effects.nextCheckAt();
  }

  override async alarm(): Promise<void> {
    await this.#effects.ring();
  }

  /** Encodes that all nodes can do at the same time, by which a film is cut; a guess when the hub does not say. */
  async #slots(): Promise<number> {
    try {
      return Math.max(1, await hubOf(this.env).capacity());
    } catch (error) {
      log.warn("The hub does not say what it has", { error: messageOf(error) });
      return ASSUMED_SLOTS;
    }
  }

  #report(proof: LeaseProof, take: (state: JobState, taskId: string) => JobState): Answer<null> {
    const before = this.#memory.state;
    if (!before) return REFUSED.superseded;
    const { state, verdict, task } = renewLease(before, proof, Date.now());
    if (verdict === "superseded") return REFUSED.superseded;
    if (verdict === "current" && task) this.#commit(take(state, task.id));
    return { ok: true, value: null };
  }

  #renewAll<Item extends LeaseProof>(items: readonly Item[], renew: Renewal<Item>): LeaseId[] {
    const now = Date.now();
    const before = this.#memory.state;
    if (!before) return items.map(({ lease }) => lease);
    const { state, dropped } = renewAll(before, items, renew, now);
    if (this.#memory.note(state, now)) this.#commit(state);
    return dropped;
  }

  /** Saves, then acts on what the new state owes. */
  #commit(state: JobState): void {
    this.#memory.save(state);
    this.#effects.start();
  }
}
