// Turns of hubs with a job: which nodes work, which were lost, and which want work.
import type { LeaseId } from "#shared/ids.ts";
import { isTerminalJob } from "#shared/job/job-status.ts";
import { traceFields } from "#shared/network/trace-context.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import type { Env } from "../bindings.ts";
import { randomBytes } from "../crypto/bytes.ts";
import { newLeaseToken } from "../crypto/lease-token.ts";
import { log } from "../log.ts";
import type { ClaimRequest, Turn, TurnAnswer } from "../rpc/turn.ts";
import { ownUrlsOf } from "../service-origins.ts";
import { type Settings, settingsOf } from "../settings.ts";
import { takenFolder } from "../storage/require-folder.ts";
import { isOutdated, isRepeated, runnableTasks } from "./decide/leases.ts";
import { folderTaken } from "./decide/storage-check.ts";
import { type LeaseInput, takeTurn } from "./decide/turn.ts";
import type { JobMemory } from "./persistence/job-memory.ts";
import { withUrls } from "./secrets/extra-urls.ts";
import { openForTask } from "./secrets/task-secrets.ts";
import { requestAdvertising } from "./state/job-moves.ts";
import type { JobState } from "./state/job-state.ts";
import { withSigned } from "./uploads/sign-assignment.ts";

export class HubTurns {
  readonly #env: Env;
  readonly #memory: JobMemory;
  readonly #commit: (state: JobState) => void;
  readonly #watchUntil: () => number;

  /** `commit` saves a state and starts its effects; `watchUntil` returns the time until which the job is followed. */
  constructor(env: Env, memory: JobMemory, commit: (state: JobState) => void, watchUntil: () => number) {
    this.#env = env;
    this.#memory = memory;
    this.#commit = commit;
    this.#watchUntil = watchUntil;
  }

  /** `acks` acknowledge the turn's reports. Their changes are noted, but not saved yet. */
  async take(turn: Turn, acks: TurnAnswer["acks"] = []): Promise<TurnAnswer> {
    const settings = settingsOf(this.#env);
    this.#endWithoutFolder(turn, settings);
    const before = this.#memory.state;
    // No secret is opened unless there is a task for a node.
    const opened =
      before && turn.want.some((claim) => hasTask(before, claim)) ? await openForTask(before.spec, settings) : null;
    // The job may have changed while its secrets were opened.
    const { state } = this.#memory;
    if (!state) return nothingKept(turn);
    const { urls = {}, ...secrets } = opened ?? {};
    const newToken = (lease: LeaseId): string => newLeaseToken(lease, settings.sealingKeys, randomBytes);
    const leaseInput = opened && { ...(secrets as LeaseInput["secrets"]) };
    const now = Date.now();
    const taken = takeTurn(state, turn, leaseInput && { secrets: leaseInput, newToken }, now);
    const outdated = turn.want.filter((claim, at) => !taken.assigned[at]?.length && isOutdated(state, claim));
    const next = outdated.reduce((one, { slotClass }) => requestAdvertising(one, slotClass), taken.state);
    // If another node has taken the claimed task, the hub hears which tasks are left.
    if (acks.includes(true) || turn.want.length > 0 || taken.isDurable || this.#memory.mustSave(next, now))
      this.#commit(next);
    else this.#memory.note(next);
    const ownUrls = opened ? ownUrlsOf(next.spec, opened.sourceUrl, settings) : [];
    const complete = (one: Assignment): Promise<Assignment> =>
      withSigned(
        next,
        { ...one, task: withUrls(one.task, urls), ...(ownUrls.length > 0 && { ownUrls: ownUrls }) },
        settings,
      );
    const assigned = await Promise.all(taken.assigned.map((assignments) => Promise.all(assignments.map(complete))));
    const { id: jobId, trace } = state.spec;
    for (const one of assigned.flat())
      log.debug("task claimed", { job: jobId, lease: one.lease, kind: one.kind, ...traceFields(trace) });
    return { acks, accountId: state.spec.accountId, assigned, cancel: taken.cancel, watchUntil: this.#watchUntil() };
  }

  /** The operator may have taken a folder from the account since the job was created. */
  #endWithoutFolder({ want }: Turn, settings: Settings): void {
    const { state } = this.#memory;
    if (!state || isTerminalJob(state.status) || !want.some((claim) => hasTask(state, claim))) return;
    const failure = takenFolder(state.spec, settings);
    if (failure) this.#commit(folderTaken(state, failure, Date.now()));
  }
}

const hasTask = (state: JobState, claim: ClaimRequest): boolean =>
  isRepeated(state, claim) || runnableTasks(state, claim.slotClass).length > 0;

function nothingKept({ done = [], alive, progress, want }: Turn): TurnAnswer {
  const cancel: LeaseId[] = [...alive, ...progress].map(({ lease }) => lease);
  return {
    acks: done.map(() => false),
    accountId: null,
    assigned: want.map((): Assignment[] => []),
    cancel,
    watchUntil: 0,
  };
}
