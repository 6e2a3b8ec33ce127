import type { DeliveryView } from "#shared/api/job-responses.ts";
import type { ProbeView } from "#shared/api/probe-responses.ts";
import { AppError, type Failure, failureOf } from "#shared/errors.ts";
import { isTerminalJob } from "#shared/job/job-status.ts";
import type { JobView } from "#shared/job/job-view.ts";
import { type TagChanges, TOO_MANY_TAGS } from "#shared/job/tags.ts";
import type { TraceContext } from "#shared/network/trace-context.ts";
import { err, ok } from "#shared/result.ts";
import { withDeadline } from "../deadline.ts";
import { lastEventIdOf, refuse } from "../events/socket-stream.ts";
import { type Delivery, targetOf, viewDelivery } from "../notify/delivery.ts";
import { replay } from "../notify/outbox.ts";
import { hubOf } from "../rpc/hub.ts";
import { JOB_NOT_FOUND, type JobFact, type JobResult, type JobRpc, PROBE_NOT_FOUND } from "../rpc/job.ts";
import { NewJobSpec } from "../rpc/job-spec.ts";
import { EMPTY_TURN } from "../rpc/turn.ts";
import { settingsOf } from "../settings.ts";
import { cancelJob, prioritizeJob, retryJob, tagJob } from "./decide/client-moves.ts";
import { indexBehind } from "./effects/job-effects.ts";
import { LeaseObject } from "./lease-object.ts";
import { unpackMetadata } from "./persistence/kept-metadata.ts";
import { resealJobSecrets } from "./secrets/job-secrets.ts";
import { generatedKeys } from "./secrets/task-secrets.ts";
import { type JobState, newJob } from "./state/job-state.ts";
import { withQueue } from "./state/pace.ts";
import { type FactDeps, viewFact } from "./views/job-facts.ts";
import { viewJob } from "./views/job-view.ts";
import { knownMetadata, metadataBody } from "./views/metadata-view.ts";
import { viewProbe } from "./views/probe-view.ts";

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

/** Interval at which a request that waits for a probe checks whether the probe has ended. */
const PROBE_POLL_MS = 200;

/** Returns an error that a client can cause; throws all other errors. */
async function returningErrors<Value>(call: () => Promise<JobResult<Value>>): Promise<JobResult<Value>> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof AppError) return err(failureOf(error));
    throw error;
  }
}

/** rpc/job.ts describes the calls. */
export class JobObject extends LeaseObject implements JobRpc {
  async create(spec: NewJobSpec, isListened = true): Promise<void> {
    // Parsed in the same way as from disk: a job whose specification cannot be read must not start.
    this.commit(this.memory.state ?? { ...newJob(NewJobSpec.parse(spec), Date.now()), isListened });
  }

  async view(accountId?: string): Promise<JobResult<JobView>> {
    const { spec } = this.memory.state ?? {};
    const isOther = accountId !== undefined && (spec?.accountId !== accountId || spec.isProbe);
    if (isOther) return err(JOB_NOT_FOUND);
    await this.#refresh();
    const view = this.memory.show();
    return view ? ok(view) : err(JOB_NOT_FOUND);
  }

  async probe(accountId: string, waitMs: number): Promise<JobResult<ProbeView>> {
    const until = Date.now() + waitMs;
    for (;;) {
      const { state } = this.memory;
      if (!state?.spec.isProbe || state.spec.accountId !== accountId) return err(PROBE_NOT_FOUND);
      if (isTerminalJob(state.status) || Date.now() >= until) return ok(viewProbe(state));
      await scheduler.wait(Math.min(PROBE_POLL_MS, until - Date.now()));
    }
  }

  /** Streams server-sent events that follow the job to its end. */
  override async fetch(request: Request): Promise<Response> {
    const { state } = this.memory;
    if (!state) return refuse(JOB_NOT_FOUND);
    if (this.events.isFull) return refuse(TOO_MANY_FOLLOWERS);
    const response = this.events.follow(lastEventIdOf(request));
    if (!(await this.followers.count(state))) {
      response.webSocket?.accept();
      response.webSocket?.close();
      return refuse(TOO_MANY_STREAMS);
    }
    this.ctx.waitUntil(this.#refresh());
    return response;
  }

  override webSocketMessage(socket: WebSocket): void {
    this.events.read(socket);
  }

  override async webSocketClose(socket: WebSocket): Promise<void> {
    const { state } = this.memory;
    if (this.events.left(socket) && state) await this.followers.count(state);
  }

  override webSocketError(socket: WebSocket): Promise<void> {
    return this.webSocketClose(socket);
  }

  async metadata(key: string | null): Promise<JobResult<string>> {
    const { state, keptMetadata } = this.memory;
    const id = this.ctx.id.name ?? "";
    if (!state) return keptMetadata ? metadataBody(id, unpackMetadata(keptMetadata), key) : err(JOB_NOT_FOUND);
    return returningErrors(async () => {
      const keys = await generatedKeys(state.spec, settingsOf(this.env));
      return metadataBody(id, knownMetadata(state, keys), key);
    });
  }

  async fact(fact: JobFact): Promise<JobResult<string>> {
    if (fact === "tasks") await this.#refresh();
    const { state } = this.memory;
    if (!state) return err(JOB_NOT_FOUND);
    const { id, settings } = state.spec;
    const hub = hubOf(this.env, settings.queue);
    const deps: FactDeps = {
      place: () => withDeadline("place", hub.place(id)),
      running: (leases) => withDeadline("running", hub.running(leases)),
    };
    return returningErrors(async () => ok(JSON.stringify(await viewFact(state, fact, deps))));
  }

  async cancel(): Promise<JobResult<JobView>> {
    return this.#unlessEnded((state) => cancelJob(state, Date.now()));
  }

  async prioritize(priority: number): Promise<JobResult<JobView>> {
    return this.#unlessEnded((state) => prioritizeJob(state, priority));
  }

  async tag(changes: TagChanges): ReturnType<JobRpc["tag"]> {
    const { state } = this.memory;
    if (!state) return err(JOB_NOT_FOUND);
    const tagged = tagJob(state, changes);
    if (!tagged) return err(TOO_MANY_TAGS);
    this.commit(tagged);
    return ok({ view: viewJob(tagged), version: tagged.version });
  }

  async retry(trace: TraceContext | null = null): ReturnType<JobRpc["retry"]> {
    const { state } = this.memory;
    if (!state) return err(JOB_NOT_FOUND);
    const restarted = retryJob(state, Date.now(), trace);
    if (!restarted) return err(conflict(`The job cannot be retried: ${state.status}`));
    this.commit(restarted);
    return ok({ view: viewJob(restarted), version: restarted.version });
  }

  async notifications(): Promise<JobResult<DeliveryView[]>> {
    const { state } = this.memory;
    return state ? ok(state.outbox.map((delivery) => viewDelivery(delivery, state.spec))) : err(JOB_NOT_FOUND);
  }

  async notification(id: string): Promise<JobResult<{ view: DeliveryView; body: string }>> {
    const { state } = this.memory;
    if (!state) return err(JOB_NOT_FOUND);
    const stored = state.outbox.find((delivery) => delivery.id === id);
    return stored ? ok({ view: viewDelivery(stored, state.spec), body: stored.body }) : err(NOTIFICATION_NOT_FOUND);
  }

  async replay(id: string): Promise<JobResult<DeliveryView>> {
    const { state } = this.memory;
    if (!state) return err(JOB_NOT_FOUND);
    const hasReceiver = (delivery: Delivery): boolean => targetOf(delivery, state.spec).type !== "none";
    const again = replay(state.outbox, id, Date.now(), hasReceiver);
    if (!again) return err(NOTIFICATION_NOT_FOUND);
    if ("waitMs" in again) {
      const retryAfterSeconds = Math.ceil(again.waitMs / 1000);
      const message = `A notification can be replayed once a minute; try again in ${retryAfterSeconds} s`;
      return err({ code: "rate_limited", message, retryAfterSeconds });
    }
    this.commit({ ...state, outbox: again.outbox });
    return ok(viewDelivery(again.replayed, state.spec));
  }

  async reseal(): Promise<JobResult<boolean>> {
    const before = this.memory.state;
    if (!before) return ok(false);
    return returningErrors(async () => {
      const sealedSecrets = await resealJobSecrets(before.spec, settingsOf(this.env).sealingKeys);
      // The job may have changed meanwhile, but not its secrets.
      const { state } = this.memory;
      if (!state || sealedSecrets === state.spec.sealedSecrets) return ok(false);
      this.commit({ ...state, spec: { ...state.spec, sealedSecrets } });
      return ok(true);
    });
  }

  async check(rowVersion: number): Promise<number | null> {
    if (!this.memory.isUnreadable) {
      const { state } = this.memory;
      if (!state) return null;
      const behind = indexBehind(state, rowVersion);
      if (behind !== state) this.memory.save(behind);
    }
    await this.effects.restoreAlarm();
    return this.effects.nextCheckAt();
  }

  override async alarm(): Promise<void> {
    await this.effects.onAlarm();
  }

  /** Takes the newest progress, or place in the queue, that hubs know. */
  async #refresh(): Promise<void> {
    const { state: before } = this.memory;
    if (!before) return;
    const progress = await this.followers.latest(before);
    if (progress.length > 0) await this.turn({ ...EMPTY_TURN, progress });
    const place = await this.followers.place(before);
    const { state } = this.memory;
    if (place === undefined || !state?.pace) return;
    this.memory.note({ ...state, pace: withQueue(state.pace, place?.seconds ?? null, Date.now()) });
  }

  /** Applies and saves a change. `change` returns null for a job that has ended. */
  #unlessEnded(change: (state: JobState) => JobState | null): JobResult<JobView> {
    const { state } = this.memory;
    if (!state) return err(JOB_NOT_FOUND);
    const changed = change(state);
    if (!changed) return err(conflict(`The job has ended already: ${state.status}`));
    this.commit(changed);
    return ok(viewJob(changed));
  }
}
