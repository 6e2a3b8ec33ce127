// Calls of the hub and of nodes about the leases of a job. They change the job's state and save it.
import { DurableObject } from "cloudflare:workers";
import { AppError, type Failure, failureOf } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import { type Logger, messageOf } from "#shared/log.ts";
import { traceFields } from "#shared/network/trace-context.ts";
import type { CommandReport } from "#shared/protocol/commands.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import type { CompleteReport, FailReport, LeaseReport, OutputsReport } from "#shared/protocol/reports.ts";
import type { ChunksAnswer, ChunksRequest, ScratchAnswer, ScratchRequest } from "#shared/protocol/scratch.ts";
import type { TaskKind } from "#shared/protocol/tasks.ts";
import type { UploadsAnswer, UploadsRequest } from "#shared/protocol/uploads.ts";
import { err, ok } from "#shared/result.ts";
import type { Env } from "../bindings.ts";
import { withDeadline } from "../deadline.ts";
import { log } from "../log.ts";
import { hubOf } from "../rpc/hub.ts";
import { type JobResult, LEASE_SUPERSEDED, type LeaseRpc } from "../rpc/job.ts";
import type { Turn, TurnAnswer } from "../rpc/turn.ts";
import { settingsOf } from "../settings.ts";
import type { UploadHolder } from "../storage/object-store.ts";
import { openStore } from "../storage/open-store.ts";
import { takenFolder } from "../storage/require-folder.ts";
import { openScratch } from "../storage/s3/scratch.ts";
import { finishedChunks } from "./chunks/chunk-work.ts";
import { renewLease } from "./decide/leases.ts";
import { endLease } from "./decide/lost-leases.ts";
import { acceptOutputs } from "./decide/output-reports.ts";
import { completeTask } from "./decide/reports.ts";
import { failTask } from "./decide/task-ends.ts";
import { EffectRunner } from "./effects/effect-runner.ts";
import type { Followed } from "./events/event-text.ts";
import { JobEvents } from "./events/job-events.ts";
import { Followers } from "./followers.ts";
import { HubTurns } from "./hub-turns.ts";
import { JobMemory } from "./persistence/job-memory.ts";
import { openJobSecrets } from "./secrets/job-secrets.ts";
import { checkLease, mayStore } from "./state/check-lease.ts";
import { withCommands } from "./state/command-log.ts";
import { taskOf } from "./state/job-moves.ts";
import type { JobState } from "./state/job-state.ts";
import type { TaskState } from "./state/task-state.ts";
import { signScratch } from "./uploads/sign-scratch.ts";
import { signUploads } from "./uploads/sign-uploads.ts";
import { viewTasks } from "./views/tasks-view.ts";

/** Assumed number of concurrent encodes while the hub does not respond. */
const ASSUMED_CAPACITY = 4;
/** Internal errors that a result may cause before its task fails. */
const MAX_ERRORS_OF_RESULT = 5;
const RESULT_NOT_PROCESSED: Failure = {
  code: "node_failed",
  message: "The service could not process the encoder node's result",
};
const NO_LEASE = { state: null, verdict: "superseded", task: null } as const;
const NO_SCRATCH: Failure = { code: "node_failed", message: "The service no longer has a scratch storage" };

const notValid = (message: string): JobResult<never> => err({ code: "report_not_valid", message });

const noteCommands = (state: JobState, task: TaskState, commands: CommandReport[] = []): JobState =>
  commands.length === 0 ? state : { ...state, commands: withCommands(state.commands, task, commands) };

/** The part of a job's object that the hub and nodes call (rpc/job.ts). */
export abstract class LeaseObject extends DurableObject<Env> implements LeaseRpc {
  protected readonly memory: JobMemory;
  protected readonly events: JobEvents;
  protected readonly effects: EffectRunner;
  protected readonly followers: Followers;
  readonly #turns: HubTurns;
  /** Internal errors that the result of a lease has caused. */
  readonly #errorsOf = new Map<LeaseId, number>();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.memory = new JobMemory(ctx.storage, () => this.events.wake());
    this.events = new JobEvents(ctx, () => this.#followed());
    this.effects = new EffectRunner(ctx, env, this.memory);
    this.followers = new Followers(env, () => this.events.size);
    this.#turns = new HubTurns(env, this.memory, this.commit, () => this.followers.until());
  }

  #followed(): Followed | null {
    const job = this.memory.show();
    return job && { job, tasks: () => viewTasks(this.memory.live()) };
  }

  /** Saves the state, then starts its effects. */
  protected readonly commit = (state: JobState): void => {
    this.memory.save(state);
    this.effects.start();
  };

  async turn(turn: Turn): Promise<TurnAnswer> {
    const acks: (boolean | null)[] = [];
    for (const report of turn.done ?? []) acks.push(await this.#noteReport(report));
    return this.#turns.take(turn, acks);
  }

  /** Takes a report of a turn without saving it: the turn saves the changes of all its reports. */
  async #noteReport({ lease, verb, body }: LeaseReport): Promise<boolean | null> {
    const note = (state: JobState): void => this.memory.note(state);
    try {
      const reports = {
        outputs: () => this.outputs(lease, body as OutputsReport, note),
        complete: () => this.complete(lease, body as CompleteReport, note),
        fail: () => this.fail(lease, body as FailReport, note),
      };
      const result = await reports[verb]();
      if (result.ok) return true;
      return result.error.code === LEASE_SUPERSEDED.code ? false : null;
    } catch (error) {
      this.#log().warn("report not processed", { lease, verb, error: messageOf(error) });
      return null;
    }
  }

  uploads(lease: LeaseId, { token, files }: UploadsRequest): Promise<JobResult<UploadsAnswer>> {
    return this.#withLease<UploadsAnswer>({ lease, token }, async ({ spec }) => {
      const settings = settingsOf(this.env);
      const taken = takenFolder(spec, settings);
      if (taken) return ok({ failure: taken });
      try {
        const secrets = await openJobSecrets(spec, settings.sealingKeys);
        const store = openStore(spec, secrets.storage, this.env);
        const deps = { store, state: () => this.memory.live(), save: this.commit };
        const uploads = await signUploads({ lease, token }, files, deps);
        return uploads ? ok({ uploads }) : err(LEASE_SUPERSEDED);
      } catch (error) {
        if (!(error instanceof AppError) || error.code === "report_not_valid") throw error;
        return ok({ failure: failureOf(error) });
      }
    });
  }

  async mayStore({ lease, output }: UploadHolder): Promise<boolean> {
    const { state } = this.memory;
    return state !== null && mayStore(state, lease, output);
  }

  scratch(lease: LeaseId, { token, ...request }: ScratchRequest): Promise<JobResult<ScratchAnswer>> {
    return this.#withLease<ScratchAnswer>({ lease, token }, async (state, task) => {
      const settings = settingsOf(this.env).scratch;
      // The task fails, and the outputs are encoded in one piece.
      if (!settings) return ok({ failure: NO_SCRATCH });
      return ok(await signScratch(state, task, request, openScratch(settings, state.spec.id, state.scratch.folder)));
    });
  }

  chunks(lease: LeaseId, { token, from }: ChunksRequest): Promise<JobResult<ChunksAnswer>> {
    return this.#withLease({ lease, token }, async (state, task) =>
      task.kind === "join"
        ? ok({ chunks: finishedChunks(state, task, from) })
        : notValid("Only a task of kind join waits for chunks"),
    );
  }

  async outputs(lease: LeaseId, report: OutputsReport, save = this.commit): Promise<JobResult<null>> {
    const { token, outputs } = report;
    const kind = this.#kindOf({ lease, token }, "chunk");
    if (!kind) return err(LEASE_SUPERSEDED);
    if (kind !== "encode") return notValid(`A task of kind ${kind} reports its outputs when it completes`);
    return this.#report({ lease, token }, (state, taskId) => acceptOutputs(state, taskId, outputs, Date.now()), save);
  }

  async complete(lease: LeaseId, report: CompleteReport, save = this.commit): Promise<JobResult<null>> {
    const { token, result } = report;
    const kind = this.#kindOf({ lease, token }, result.kind);
    if (!kind) return err(LEASE_SUPERSEDED);
    if (kind !== result.kind) {
      return notValid(`The result is of kind ${result.kind}, but the task is of kind ${kind}`);
    }
    const slots = result.kind === "inspect" && result.chunking?.ok ? await this.#capacity() : 1;
    try {
      const take = (state: JobState, taskId: string) =>
        noteCommands(completeTask(state, taskId, result, Date.now(), slots), taskOf(state, taskId), report.commands);
      return this.#report({ lease, token }, take, save);
    } catch (error) {
      const count = (this.#errorsOf.get(lease) ?? 0) + 1;
      this.#errorsOf.set(lease, count);
      // The error may be temporary; a node repeats its report until it is accepted.
      if (count < MAX_ERRORS_OF_RESULT) throw error;
      this.#log().error("task result not processed", { lease, count, error: messageOf(error) });
      return this.fail(lease, { token, failure: RESULT_NOT_PROCESSED }, save);
    }
  }

  async fail(lease: LeaseId, report: FailReport, save = this.commit): Promise<JobResult<null>> {
    const { token, failure, hasCrashed = false } = report;
    if (hasCrashed) return this.#endLease({ lease, token }, save);
    const take = (state: JobState, taskId: string) =>
      noteCommands(failTask(state, taskId, failure, Date.now()), taskOf(state, taskId), report.commands);
    return this.#report({ lease, token }, take, save);
  }

  /** Number of encodes that all nodes can run at the same time. It decides into how many chunks a source is split. */
  async #capacity(): Promise<number> {
    try {
      const hub = hubOf(this.env, this.memory.state?.spec.settings.queue);
      return Math.max(1, await withDeadline("capacity", hub.capacity()));
    } catch (error) {
      this.#log().warn("hub capacity not read", { assumed: ASSUMED_CAPACITY, error: messageOf(error) });
      return ASSUMED_CAPACITY;
    }
  }

  #log(): Logger {
    return log.child(traceFields(this.memory.state?.spec.trace));
  }

  #report(
    proof: LeaseProof,
    take: (state: JobState, taskId: string) => JobState,
    save: (state: JobState) => void,
  ): JobResult<null> {
    const before = this.memory.state;
    if (!before) return err(LEASE_SUPERSEDED);
    const { state, verdict, task } = renewLease(before, proof, Date.now());
    this.#log().debug("lease renewed", { lease: proof.lease, verdict });
    if (verdict === "superseded") return err(LEASE_SUPERSEDED);
    if (verdict === "current" && task) save(take(state, task.id));
    // The report may have been noted in a turn that failed. It must become durable now, because its node drops it.
    else if (verdict === "repeat") save(before);
    return ok(null);
  }

  /** Ends a lease whose process has ended. */
  #endLease(proof: LeaseProof, save: (state: JobState) => void): JobResult<null> {
    const before = this.memory.state;
    const after = before && endLease(before, proof, Date.now());
    if (!after) return err(LEASE_SUPERSEDED);
    if (after !== before) save(after);
    return ok(null);
  }

  /**
   * The kind of a lease's task; `known` if the task has ended. Null without a valid lease: then a node must not learn
   * anything about the task, not even that it exists.
   */
  #kindOf(proof: LeaseProof, known: TaskKind): TaskKind | null {
    const { state } = this.memory;
    const checked = state && checkLease(state, proof);
    return !checked || checked.verdict === "superseded" ? null : (checked.task?.kind ?? known);
  }

  /**
   * Renews the lease of a request, and answers the request. Streams send requests all the time: like progress, they are
   * seldom written to disk.
   */
  async #withLease<Value>(
    proof: LeaseProof,
    answer: (state: JobState, task: TaskState) => Promise<JobResult<Value>>,
  ): Promise<JobResult<Value>> {
    const now = Date.now();
    const before = this.memory.state;
    const { state, verdict, task } = before ? renewLease(before, proof, now) : NO_LEASE;
    if (!state || !task || verdict !== "current") return err(LEASE_SUPERSEDED);
    if (this.memory.mustSave(state, now)) this.commit(state);
    else this.memory.note(state);
    try {
      return await answer(state, task);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "report_not_valid") throw error;
      return err(failureOf(error));
    }
  }
}
