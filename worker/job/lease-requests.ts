// The calls about leases, from the hub and from nodes, on one job. They decide on the job's state and save it.
import { AppError, type Failure, failureOf } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import { messageOf } from "#shared/log.ts";
import type { ProgressItem } from "#shared/protocol/frames.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import type { CompleteReport, FailReport, OutputsReport } from "#shared/protocol/reports.ts";
import type { ScratchAnswer, ScratchRequest } from "#shared/protocol/scratch.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import type { UploadsAnswer, UploadsRequest } from "#shared/protocol/uploads.ts";
import { err, ok } from "#shared/result.ts";
import type { Env } from "../bindings.ts";
import { randomBytes } from "../crypto/bytes.ts";
import { newLeaseTokens } from "../crypto/lease-token.ts";
import { log } from "../log.ts";
import { hubOf } from "../rpc/hub.ts";
import { type ClaimRequest, type JobResult, LEASE_SUPERSEDED, type LeaseRpc } from "../rpc/job.ts";
import { settingsOf } from "../settings.ts";
import type { UploadHolder } from "../storage/object-store.ts";
import { openStore } from "../storage/open-store.ts";
import { openScratch } from "../storage/s3/scratch.ts";
import {
  claimTasks,
  isOutdated,
  type Renewal,
  recordProgress,
  renewAll,
  renewLease,
  runnableTasks,
  shortenLeases,
} from "./decide/leases.ts";
import { acceptOutputs } from "./decide/output-reports.ts";
import { completeTask } from "./decide/reports.ts";
import { failTask } from "./decide/task-ends.ts";
import type { JobMemory } from "./persistence/job-memory.ts";
import { withUrls } from "./secrets/extra-urls.ts";
import { openJobSecrets } from "./secrets/job-secrets.ts";
import { openForTask } from "./secrets/task-secrets.ts";
import { checkLease, mayStore } from "./state/check-lease.ts";
import { requestAdvertising } from "./state/job-moves.ts";
import type { JobState } from "./state/job-state.ts";
import { signScratch } from "./uploads/sign-scratch.ts";
import { signUploads } from "./uploads/sign-uploads.ts";

/** How long the leases of a disconnected node stay valid: long enough to reconnect. */
const RECONNECT_MS = 10_000;
/** The assumed number of encodes at the same time while the hub does not respond. */
const ASSUMED_CAPACITY = 4;
/** How often a result may cause an internal error before its task fails. */
const MAX_ERRORS_OF_RESULT = 5;
const RESULT_NOT_PROCESSED: Failure = {
  code: "node_failed",
  message: "The service could not process the encoder node's result",
};
const NO_SCRATCH: Failure = { code: "node_failed", message: "The service no longer has a scratch storage" };

export class LeaseRequests implements LeaseRpc {
  readonly #env: Env;
  readonly #memory: JobMemory;
  readonly #commit: (state: JobState) => void;
  /** How often the result of a lease caused an internal error. */
  readonly #errorsOf = new Map<LeaseId, number>();

  /** `commit` saves a state and starts its effects. */
  constructor(env: Env, memory: JobMemory, commit: (state: JobState) => void) {
    this.#env = env;
    this.#memory = memory;
    this.#commit = commit;
  }

  async claim(request: ClaimRequest): Promise<Assignment[]> {
    const { slotClass, max } = request;
    const before = this.#memory.state;
    if (before && runnableTasks(before, slotClass).length === 0) {
      // Another node may have taken the tasks: then no secret is opened.
      this.#commit(before);
      return [];
    }
    if (before && isOutdated(before, request, Date.now())) {
      this.#commit(requestAdvertising(before, slotClass));
      return [];
    }
    const settings = settingsOf(this.#env);
    const opened = before && (await openForTask(before.spec, settings));
    // The job may have changed while its secrets were opened.
    const { state } = this.#memory;
    if (!state || !opened) return [];
    const tokens = newLeaseTokens(max, state.spec.id, settings.sealingKeys, randomBytes);
    const { urls, ...secrets } = opened;
    const claimed = claimTasks(state, { ...request, tokens, ...secrets }, Date.now());
    this.#commit(claimed.state);
    for (const { lease, kind } of claimed.assignments) {
      log.debug("task claimed", { job: state.spec.id, lease, kind, node: request.nodeId });
    }
    return claimed.assignments.map((one) => ({ ...one, task: withUrls(one.task, urls) }));
  }

  async progress(items: ProgressItem[]): Promise<LeaseId[]> {
    return this.#renewAll(items, recordProgress);
  }

  async renew(proofs: LeaseProof[]): Promise<{ accountId: string | null; dropped: LeaseId[] }> {
    const dropped = this.#renewAll(proofs, renewLease);
    return { accountId: this.#memory.state?.spec.accountId ?? null, dropped };
  }

  async suspect(session: string): Promise<void> {
    const { state } = this.#memory;
    if (state) this.#commit(shortenLeases(state, session, RECONNECT_MS, Date.now()));
  }

  async uploads(lease: LeaseId, { token, files }: UploadsRequest): Promise<JobResult<UploadsAnswer>> {
    const { state } = this.#memory;
    // A stream requests uploads all the time: like progress, such a request is seldom written to disk.
    if (!state || this.#renewAll([{ lease, token }], renewLease).length > 0) return err(LEASE_SUPERSEDED);
    try {
      const { spec } = state;
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

  async outputs(lease: LeaseId, { token, outputs }: OutputsReport): Promise<JobResult<null>> {
    const checked = this.#memory.state && checkLease(this.#memory.state, { lease, token });
    if (!checked || checked.verdict === "superseded") return err(LEASE_SUPERSEDED);
    const kind = checked.task?.kind ?? "chunk";
    if (kind !== "encode") {
      return err({ code: "report_not_valid", message: `A task of kind ${kind} reports its outputs when it completes` });
    }
    return this.#report({ lease, token }, (state, taskId) => acceptOutputs(state, taskId, outputs, Date.now()));
  }

  async complete(lease: LeaseId, { token, result }: CompleteReport): Promise<JobResult<null>> {
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
      return this.#report({ lease, token }, (state, taskId) => completeTask(state, taskId, result, Date.now(), slots));
    } catch (error) {
      const count = (this.#errorsOf.get(lease) ?? 0) + 1;
      this.#errorsOf.set(lease, count);
      // The error may be temporary; a node repeats its report until it is accepted.
      if (count < MAX_ERRORS_OF_RESULT) throw error;
      log.error("task result given up after internal errors", { lease, count, error: messageOf(error) });
      return this.fail(lease, { token, failure: RESULT_NOT_PROCESSED });
    }
  }

  async fail(lease: LeaseId, { token, failure }: FailReport): Promise<JobResult<null>> {
    return this.#report({ lease, token }, (state, taskId) => failTask(state, taskId, failure, Date.now()));
  }

  /** The number of encodes that all nodes can run at the same time, by which a source is split into chunks. */
  async #capacity(): Promise<number> {
    try {
      return Math.max(1, await hubOf(this.#env).capacity());
    } catch (error) {
      log.warn("hub capacity unavailable", { assumed: ASSUMED_CAPACITY, error: messageOf(error) });
      return ASSUMED_CAPACITY;
    }
  }

  #report(proof: LeaseProof, take: (state: JobState, taskId: string) => JobState): JobResult<null> {
    const before = this.#memory.state;
    if (!before) return err(LEASE_SUPERSEDED);
    const { state, verdict, task } = renewLease(before, proof, Date.now());
    log.debug("lease report", { lease: proof.lease, verdict });
    if (verdict === "superseded") return err(LEASE_SUPERSEDED);
    if (verdict === "current" && task) this.#commit(take(state, task.id));
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
