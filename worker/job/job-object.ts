// The object of one job: loads the state, applies a decision, saves it, then runs effects. Decisions are pure
// functions.
import { DurableObject } from "cloudflare:workers";
import type { DeliveryView } from "#shared/api/job-responses.ts";
import { AppError, type Failure, failureOf } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import { isTerminalJob } from "#shared/job/job-status.ts";
import type { JobView } from "#shared/job/job-view.ts";
import type { TraceContext } from "#shared/network/trace-context.ts";
import type { ProgressItem } from "#shared/protocol/frames.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import type { CompleteReport, FailReport, OutputsReport } from "#shared/protocol/reports.ts";
import type { ChunksAnswer, ChunksRequest, ScratchAnswer, ScratchRequest } from "#shared/protocol/scratch.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import type { UploadsAnswer, UploadsRequest } from "#shared/protocol/uploads.ts";
import { err, ok } from "#shared/result.ts";
import type { Env } from "../bindings.ts";
import { viewDelivery } from "../notify/delivery.ts";
import { replay } from "../notify/outbox.ts";
import { JOB_NOT_FOUND, type JobFact, type JobResult, type JobRpc } from "../rpc/job.ts";
import { JobSpec } from "../rpc/job-spec.ts";
import type { ClaimRequest, Turn, TurnAnswer } from "../rpc/turn.ts";
import { settingsOf } from "../settings.ts";
import type { UploadHolder } from "../storage/object-store.ts";
import { listenUntil, startListened } from "./decide/account-events.ts";
import { cancelJob, retryJob } from "./decide/client-moves.ts";
import { EffectRunner } from "./effects/effect-runner.ts";
import { indexBehind } from "./effects/job-effects.ts";
import type { Followed } from "./events/event-text.ts";
import { JobEvents } from "./events/job-events.ts";
import { Followers } from "./followers.ts";
import { LeaseRequests } from "./lease-requests.ts";
import { JobMemory } from "./persistence/job-memory.ts";
import { unpackMetadata } from "./persistence/kept-metadata.ts";
import { resealJobSecrets } from "./secrets/job-secrets.ts";
import { generatedKeys } from "./secrets/task-secrets.ts";
import { type JobState, newJob } from "./state/job-state.ts";
import { viewFact } from "./views/job-facts.ts";
import { viewJob } from "./views/job-view.ts";
import { knownMetadata, metadataBody } from "./views/metadata-view.ts";
import { viewTasks } from "./views/tasks-view.ts";

const NOTIFICATION_NOT_FOUND: Failure = {
  code: "notification_not_found",
  message: "The job has no notification with this id",
};
const TOO_MANY_FOLLOWERS: Failure = { code: "rate_limited", message: "Too many event streams follow this job already" };
const TOO_MANY_STREAMS: Failure = {
  code: "rate_limited",
  message: "Too many event streams follow jobs of this account already; `GET /v2/events` follows all of them",
};
const conflict = (message: string): Failure => ({ code: "job_state_conflict", message });

/** Returns the error of a call that a client can cause; others are thrown. */
async function returningErrors<Value>(call: () => Promise<JobResult<Value>>): Promise<JobResult<Value>> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof AppError) return err(failureOf(error));
    throw error;
  }
}

/** rpc/job.ts describes the calls. */
export class JobObject extends DurableObject<Env> implements JobRpc {
  readonly #memory: JobMemory;
  readonly #events: JobEvents;
  readonly #effects: EffectRunner;
  readonly #followers: Followers;
  readonly #leases: LeaseRequests;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#memory = new JobMemory(ctx.storage, () => this.#events.wake());
    this.#events = new JobEvents(
      () => this.#followed(),
      () => this.#followerLeft(),
    );
    this.#effects = new EffectRunner(ctx, env, this.#memory);
    const commit = (state: JobState): void => this.#commit(state);
    this.#followers = new Followers(env, () => this.#events.size);
    this.#leases = new LeaseRequests(env, this.#memory, commit, () => this.#followers.until());
  }

  async create(spec: JobSpec, listenedUntil = 0): Promise<void> {
    // Parsed as when it is read from disk: a job whose specification cannot be read must not start.
    this.#commit(this.#memory.state ?? startListened(newJob(JobSpec.parse(spec), Date.now()), listenedUntil));
  }

  async listen(until: number): Promise<void> {
    const { state } = this.#memory;
    const informed = state && listenUntil(state, until, Date.now());
    if (informed && informed !== state && !isTerminalJob(informed.status)) this.#commit(informed);
  }

  turn(turn: Turn): Promise<TurnAnswer> {
    return this.#leases.turn(turn);
  }

  claim(request: ClaimRequest): Promise<Assignment[]> {
    return this.#leases.claim(request);
  }

  progress(items: ProgressItem[]): Promise<LeaseId[]> {
    return this.#leases.progress(items);
  }

  renew(proofs: LeaseProof[]): Promise<{ accountId: string | null; dropped: LeaseId[] }> {
    return this.#leases.renew(proofs);
  }

  suspect(session: string): Promise<void> {
    return this.#leases.suspect(session);
  }

  uploads(lease: LeaseId, request: UploadsRequest): Promise<JobResult<UploadsAnswer>> {
    return this.#leases.uploads(lease, request);
  }

  mayStore(holder: UploadHolder): Promise<boolean> {
    return this.#leases.mayStore(holder);
  }

  scratch(lease: LeaseId, request: ScratchRequest): Promise<JobResult<ScratchAnswer>> {
    return this.#leases.scratch(lease, request);
  }

  chunks(lease: LeaseId, request: ChunksRequest): Promise<JobResult<ChunksAnswer>> {
    return this.#leases.chunks(lease, request);
  }

  outputs(lease: LeaseId, report: OutputsReport): Promise<JobResult<null>> {
    return this.#leases.outputs(lease, report);
  }

  complete(lease: LeaseId, report: CompleteReport): Promise<JobResult<null>> {
    return this.#leases.complete(lease, report);
  }

  fail(lease: LeaseId, report: FailReport): Promise<JobResult<null>> {
    return this.#leases.fail(lease, report);
  }

  async view(): Promise<JobResult<JobView>> {
    await this.#refresh();
    const view = this.#memory.show();
    return view ? ok(view) : err(JOB_NOT_FOUND);
  }

  async events(): Promise<JobResult<ReadableStream<Uint8Array>>> {
    const { state } = this.#memory;
    if (!state) return err(JOB_NOT_FOUND);
    const stream = this.#events.open();
    if (!stream) return err(TOO_MANY_FOLLOWERS);
    if (!(await this.#followers.count(state))) {
      await stream.cancel();
      return err(TOO_MANY_STREAMS);
    }
    this.ctx.waitUntil(this.#refresh());
    return ok(stream);
  }

  #followerLeft(): void {
    const { state } = this.#memory;
    if (state) this.ctx.waitUntil(this.#followers.count(state));
  }

  async metadata(key: string | null): Promise<JobResult<string>> {
    const { state, keptMetadata } = this.#memory;
    const id = this.ctx.id.name ?? "";
    if (!state) return keptMetadata ? metadataBody(id, unpackMetadata(keptMetadata), key) : err(JOB_NOT_FOUND);
    return returningErrors(async () => {
      const keys = await generatedKeys(state.spec, settingsOf(this.env));
      return metadataBody(id, knownMetadata(state, keys), key);
    });
  }

  async fact(fact: JobFact): Promise<JobResult<string>> {
    if (fact === "tasks") await this.#refresh();
    const { state } = this.#memory;
    if (!state) return err(JOB_NOT_FOUND);
    return returningErrors(async () => ok(JSON.stringify(await viewFact(state, fact, settingsOf(this.env)))));
  }

  async cancel(): Promise<JobResult<JobView>> {
    const { state } = this.#memory;
    if (!state) return err(JOB_NOT_FOUND);
    const cancelled = cancelJob(state, Date.now());
    if (!cancelled) return err(conflict(`The job has ended already: ${state.status}`));
    this.#commit(cancelled);
    return ok(viewJob(cancelled));
  }

  async retry(listenedUntil = 0, trace: TraceContext | null = null): ReturnType<JobRpc["retry"]> {
    const { state } = this.#memory;
    if (!state) return err(JOB_NOT_FOUND);
    const restarted = retryJob(listenUntil(state, listenedUntil, Date.now()), Date.now(), trace);
    if (!restarted) return err(conflict(`The job cannot be retried: ${state.status}`));
    this.#commit(restarted);
    return ok({ view: viewJob(restarted), version: restarted.version });
  }

  async notifications(): Promise<JobResult<DeliveryView[]>> {
    const { state } = this.#memory;
    return state ? ok(state.outbox.map(viewDelivery)) : err(JOB_NOT_FOUND);
  }

  async notification(id: string): Promise<JobResult<{ view: DeliveryView; body: string }>> {
    const { state } = this.#memory;
    if (!state) return err(JOB_NOT_FOUND);
    const found = state.outbox.find((delivery) => delivery.id === id);
    return found ? ok({ view: viewDelivery(found), body: found.body }) : err(NOTIFICATION_NOT_FOUND);
  }

  async replay(id: string): Promise<JobResult<DeliveryView>> {
    const { state } = this.#memory;
    if (!state) return err(JOB_NOT_FOUND);
    const again = replay(state.outbox, id, Date.now(), state.spec.notification.type !== "none");
    if (!again) return err(NOTIFICATION_NOT_FOUND);
    if ("waitMs" in again) {
      const retryAfterSeconds = Math.ceil(again.waitMs / 1000);
      const message = `A notification can be replayed once a minute; try again in ${retryAfterSeconds} s`;
      return err({ code: "rate_limited", message, retryAfterSeconds });
    }
    this.#commit({ ...state, outbox: again.outbox });
    return ok(viewDelivery(again.replayed));
  }

  async reseal(): Promise<JobResult<boolean>> {
    const before = this.#memory.state;
    if (!before) return ok(false);
    return returningErrors(async () => {
      const sealedSecrets = await resealJobSecrets(before.spec, settingsOf(this.env).sealingKeys);
      // The job may have changed meanwhile, but not its secrets.
      const { state } = this.#memory;
      if (!state || sealedSecrets === state.spec.sealedSecrets) return ok(false);
      this.#commit({ ...state, spec: { ...state.spec, sealedSecrets } });
      return ok(true);
    });
  }

  async check(rowVersion: number): Promise<number | null> {
    if (!this.#memory.isUnreadable) {
      const { state } = this.#memory;
      if (!state) return null;
      const behind = indexBehind(state, rowVersion);
      if (behind !== state) this.#memory.save(behind);
    }
    await this.#effects.revive();
    return this.#effects.nextCheckAt();
  }

  override async alarm(): Promise<void> {
    await this.#effects.ring();
  }

  #followed(): Followed | null {
    const job = this.#memory.show();
    return job && { job, tasks: () => viewTasks(this.#memory.live()) };
  }

  /** Takes the newest progress that hubs know. */
  async #refresh(): Promise<void> {
    const { state } = this.#memory;
    const progress = state ? await this.#followers.latest(state) : [];
    if (progress.length > 0) await this.#leases.progress(progress);
  }

  /** Saves the state, then starts its effects. */
  #commit(state: JobState): void {
    this.#memory.save(state);
    this.#effects.start();
  }
}
