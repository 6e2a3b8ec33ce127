// Calls of the hub and of nodes about the leases of a job. They change the job's state and save it.
import { AppError, type Failure, failureOf } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import { type Logger, messageOf } from "#shared/log.ts";
import { traceFields } from "#shared/network/trace-context.ts";
import { DEFAULT_POOL } from "#shared/placement.ts";
import type { CommandReport } from "#shared/protocol/commands.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import type { CompleteReport, FailReport, LeaseReport, OutputsReport } from "#shared/protocol/reports.ts";
import type { ChunksAnswer, ChunksRequest, ScratchAnswer, ScratchRequest } from "#shared/protocol/scratch.ts";
import type { UploadsAnswer, UploadsRequest } from "#shared/protocol/uploads.ts";
import { err, ok } from "#shared/result.ts";
import type { Env } from "../bindings.ts";
import { log } from "../log.ts";
import { type JobResult, LEASE_SUPERSEDED, type LeaseRpc } from "../rpc/job.ts";
import type { Turn, TurnAnswer } from "../rpc/turn.ts";
import { settingsOf } from "../settings.ts";
import type { UploadHolder } from "../storage/object-store.ts";
import { openStore } from "../storage/open-store.ts";
import { takenFolder } from "../storage/require-folder.ts";
import { openScratch } from "../storage/s3/scratch.ts";
import { finishedChunks } from "./chunks/chunk-work.ts";
import { type Renewal, renewAll, renewLease } from "./decide/leases.ts";
import { endLease } from "./decide/lost-leases.ts";
import { acceptOutputs } from "./decide/output-reports.ts";
import { completeTask } from "./decide/reports.ts";
import { failTask } from "./decide/task-ends.ts";
import { capacityOf } from "./effects/hub-calls.ts";
import { HubTurns } from "./hub-turns.ts";
import type { JobMemory } from "./persistence/job-memory.ts";
import { openJobSecrets } from "./secrets/job-secrets.ts";
import { checkLease, mayStore } from "./state/check-lease.ts";
import { withCommands } from "./state/command-log.ts";
import { taskOf } from "./state/job-moves.ts";
import type { JobState } from "./state/job-state.ts";
import type { TaskState } from "./state/task-state.ts";
import { signScratch } from "./uploads/sign-scratch.ts";
import { signUploads } from "./uploads/sign-uploads.ts";

/** Assumed number of concurrent encodes while the hub does not respond. */
const ASSUMED_CAPACITY = 4;
/** Internal errors that a result may cause before its task fails. */
const MAX_ERRORS_OF_RESULT = 5;
const RESULT_NOT_PROCESSED: Failure = {
  code: "node_failed",
  message: "The service could not process the encoder node's result",
};
const NO_SCRATCH: Failure = { code: "node_failed", message: "The service no longer has a scratch storage" };

const noteCommands = (state: JobState, task: TaskState, commands: CommandReport[] = []): JobState =>
  commands.length === 0 ? state : { ...state, commands: withCommands(state.commands, task, commands) };

export class LeaseRequests implements LeaseRpc {
  readonly #env: Env;
  readonly #memory: JobMemory;
  readonly #commit: (state: JobState) => void;
  readonly #turns: HubTurns;
  /** Internal errors that the result of a lease has caused. */
  readonly #errorsOf = new Map<LeaseId, number>();

  /** `commit` saves a state and starts its effects; `watchUntil` returns the time until which the job is followed. */
  constructor(env: Env, memory: JobMemory, commit: (state: JobState) => void, watchUntil: () => number) {
    this.#env = env;
    this.#memory = memory;
    this.#commit = commit;
    this.#turns = new HubTurns(env, memory, commit, watchUntil);
  }

  async turn(turn: Turn): Promise<TurnAnswer> {
    const acks: (boolean | null)[] = [];
    for (const report of turn.done ?? []) acks.push(await this.#noteReport(report));
    return this.#turns.take(turn, acks);
  }

  /** Takes a report of a turn without saving it: the turn saves the changes of all its reports. */
  async #noteReport({ lease, verb, body }: LeaseReport): Promise<boolean | null> {
    const note = (state: JobState): void => this.#memory.note(state);
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

  async uploads(lease: LeaseId, { token, files }: UploadsRequest): Promise<JobResult<UploadsAnswer>> {
    const { state } = this.#memory;
    // A stream requests uploads all the time. Like progress, such a request is seldom written to disk.
    if (!state || this.#renewAll([{ lease, token }], renewLease).length > 0) return err(LEASE_SUPERSEDED);
    try {
      const { spec } = state;
      const taken = takenFolder(spec, settingsOf(this.#env));
      if (taken) return ok({ failure: taken });
      const secrets = await openJobSecrets(spec, settingsOf(this.#env).sealingKeys);
      const store = openStore(spec, secrets.storage, this.#env);
      const deps = { store, state: () => this.#memory.live(), save: this.#commit };
      const uploads = await signUploads({ lease, token }, files, deps);
      return uploads ? ok({ uploads }) : err(LEASE_SUPERSEDED);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const failure = failureOf(error);
      return error.code === "report_not_valid" ? err(failure) : ok({ failure });
    }
  }

  async mayStore({ lease, output }: UploadHolder): Promise<boolean> {
    const { state } = this.#memory;
    return state !== null && mayStore(state, lease, output);
  }

  async scratch(lease: LeaseId, { token, ...request }: ScratchRequest): Promise<JobResult<ScratchAnswer>> {
    const { state } = this.#memory;
    if (!state || this.#renewAll([{ lease, token }], renewLease).length > 0) return err(LEASE_SUPERSEDED);
    const { task } = checkLease(state, { lease, token });
    const settings = settingsOf(this.#env).scratch;
    if (!task) return err(LEASE_SUPERSEDED);
    // The task fails, and the outputs are encoded in one piece.
    if (!settings) return ok({ failure: NO_SCRATCH });
    try {
      const store = openScratch(settings, state.spec.id, state.scratch.folder);
      return ok(await signScratch(state, task, request, store));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "report_not_valid") throw error;
      return err(failureOf(error));
    }
  }

  async chunks(lease: LeaseId, { token, from }: ChunksRequest): Promise<JobResult<ChunksAnswer>> {
    const { state } = this.#memory;
    if (!state || this.#renewAll([{ lease, token }], renewLease).length > 0) return err(LEASE_SUPERSEDED);
    const { task } = checkLease(state, { lease, token });
    if (task?.kind === "join") return ok({ chunks: finishedChunks(state, task, from) });
    return err({ code: "report_not_valid", message: "Only a task of kind join waits for chunks" });
  }

  async outputs(lease: LeaseId, report: OutputsReport, save = this.#commit): Promise<JobResult<null>> {
    const { token, outputs } = report;
    const checked = this.#memory.state && checkLease(this.#memory.state, { lease, token });
    if (!checked || checked.verdict === "superseded") return err(LEASE_SUPERSEDED);
    const kind = checked.task?.kind ?? "chunk";
    if (kind !== "encode") {
      return err({ code: "report_not_valid", message: `A task of kind ${kind} reports its outputs when it completes` });
    }
    return this.#report({ lease, token }, (state, taskId) => acceptOutputs(state, taskId, outputs, Date.now()), save);
  }

  async complete(lease: LeaseId, report: CompleteReport, save = this.#commit): Promise<JobResult<null>> {
    const { token, result } = report;
    const checked = this.#memory.state && checkLease(this.#memory.state, { lease, token });
    // Without a valid lease, a node must not learn anything about the task, not even that it exists.
    if (!checked || checked.verdict === "superseded") return err(LEASE_SUPERSEDED);
    const kind = checked.task?.kind ?? result.kind;
    if (kind !== result.kind) {
      const message = `The result is of kind ${result.kind}, but the task is of kind ${kind}`;
      return err({ code: "report_not_valid", message });
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

  async fail(lease: LeaseId, report: FailReport, save = this.#commit): Promise<JobResult<null>> {
    const { token, failure, hasCrashed = false } = report;
    if (hasCrashed) return this.#endLease({ lease, token }, save);
    const take = (state: JobState, taskId: string) =>
      noteCommands(failTask(state, taskId, failure, Date.now()), taskOf(state, taskId), report.commands);
    return this.#report({ lease, token }, take, save);
  }

  /** Number of encodes that all nodes can run at the same time. It decides into how many chunks a source is split. */
  async #capacity(): Promise<number> {
    try {
      return Math.max(1, await capacityOf(this.#env, this.#memory.state?.spec.settings.queue ?? DEFAULT_POOL));
    } catch (error) {
      this.#log().warn("hub capacity not read", { assumed: ASSUMED_CAPACITY, error: messageOf(error) });
      return ASSUMED_CAPACITY;
    }
  }

  #log(): Logger {
    return log.child(traceFields(this.#memory.state?.spec.trace));
  }

  #report(
    proof: LeaseProof,
    take: (state: JobState, taskId: string) => JobState,
    save: (state: JobState) => void,
  ): JobResult<null> {
    const before = this.#memory.state;
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
    const before = this.#memory.state;
    const after = before && endLease(before, proof, Date.now());
    if (!after) return err(LEASE_SUPERSEDED);
    if (after !== before) save(after);
    return ok(null);
  }

  #renewAll<Item extends LeaseProof>(items: readonly Item[], renew: Renewal<Item>): LeaseId[] {
    const now = Date.now();
    const before = this.#memory.state;
    if (!before) return items.map(({ lease }) => lease);
    const { state, dropped } = renewAll(before, items, renew, now);
    if (this.#memory.mustSave(state, now)) this.#commit(state);
    else this.#memory.note(state);
    return dropped;
  }
}
