// Runs the effects of a job. Each effect calls a single neighbor and applies the result to the state.
import { AppError, assertNever, errorTraits, type Failure, failureOf } from "#shared/errors.ts";
import { isTerminalJob } from "#shared/job/job-status.ts";
import { tagsText } from "#shared/job/tags.ts";
import { scheduleChecks, updateJob } from "../../db/jobs/jobs.ts";
import { usageText } from "../../db/usage/usage.ts";
import { withDeadline } from "../../deadline.ts";
import { accountOf } from "../../rpc/account.ts";
import { hubOf } from "../../rpc/hub.ts";
import { settingsOf } from "../../settings.ts";
import { removeObjects } from "../../storage/builtin/builtin-store.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { openStore } from "../../storage/open-store.ts";
import { openScratch } from "../../storage/s3/scratch.ts";
import { isUploadLost } from "../../storage/storage-errors.ts";
import { applyHoldings, leasesToConfirm } from "../decide/lost-leases.ts";
import { settleUploads } from "../decide/output-reports.ts";
import { keptMetadata } from "../persistence/kept-metadata.ts";
import { openJobSecrets } from "../secrets/job-secrets.ts";
import { uploadKey } from "../state/task-state.ts";
import { fileToStore } from "../uploads/job-files.ts";
import { usageOf } from "../views/job-usage.ts";
import { viewJob } from "../views/job-view.ts";
import { searchText } from "../views/search-text.ts";
import { areEventsDue, dueEvents } from "./account-events.ts";
import { advertise } from "./advertise-effect.ts";
import { tryDelivery } from "./deliver-effect.ts";
import type { Effect, EffectDeps, EffectOf } from "./effect.ts";
import { completionName, indexed, mayAbortAgain, nextCheckAt, revoked, uploadAborted } from "./job-effects.ts";
import { closeScratch, mayClearAgain, scratchCleared } from "./scratch-effects.ts";
import { checkStorage, forgetStorage } from "./storage-check-effect.ts";

/** Attempts to complete the uploads of an output, over about an hour, before the output fails. */
const MAX_COMPLETION_ATTEMPTS = 22;

/** Runs an effect. Throws if the effect must be tried again. */
export async function runEffect(effect: Effect, deps: EffectDeps): Promise<void> {
  switch (effect.kind) {
    case "advertise":
      return advertise(effect, deps);
    case "check-storage":
      return checkStorage(deps);
    case "complete-uploads":
      return completeUploads(effect, deps);
    case "confirm-leases":
      return confirmLeases(deps);
    case "revoke":
      await withDeadline("revoke", hubIn(deps).revoke(effect.leases));
      return deps.apply((state) => revoked(state, effect.leases));
    case "abort-upload":
      return abortUpload(effect, deps);
    case "index":
      return updateIndex(deps);
    case "emit":
      return emitEvents(deps);
    case "deliver":
      return tryDelivery(effect.delivery, deps);
    case "clear-storage":
      // If the operator removed the bucket, the objects are gone too.
      if (deps.env.STORAGE) await removeObjects(deps.env.STORAGE, deps.state().spec.id);
      return deps.apply((state) => ({ ...state, storageCleared: true }));
    case "clear-scratch":
      return clearScratch(effect.folder, deps);
    case "purge":
      return purge(deps);
    default:
      return assertNever(effect);
  }
}

const hubIn = ({ env, state }: EffectDeps) => hubOf(env, state().spec.settings.queue);

async function storeOf({ env, state }: EffectDeps): Promise<ObjectStore> {
  const { spec } = state();
  const secrets = await openJobSecrets(spec, settingsOf(env).sealingKeys);
  return openStore(spec, secrets.storage, env);
}

async function abortUpload({ upload }: EffectOf<"abort-upload">, deps: EffectDeps): Promise<void> {
  if (mayAbortAgain(deps.state(), upload)) await (await storeOf(deps)).abort(upload.objectName, upload.uploadId);
  // Aborting it again does no harm.
  deps.note((state) => uploadAborted(state, upload));
}

async function updateIndex(deps: EffectDeps): Promise<void> {
  const state = deps.state();
  const hasRejected = state.outputs.some(({ failure }) => failure?.code.startsWith("storage_"));
  // Without the key of its secrets, a job has checked no storage.
  if (hasRejected) await forgetStorage(deps).catch(() => {});
  await updateJob(deps.env.DB, {
    id: state.spec.id,
    accountId: state.spec.accountId,
    status: state.status,
    version: state.version,
    createdAt: state.spec.createdAt,
    completedAt: state.completedAt,
    tookMs: state.completedAt === null || state.runningSince === null ? null : state.completedAt - state.runningSince,
    view: JSON.stringify(viewJob(state)),
    // Computed for the state after this effect, on which the purge depends.
    checkAt: nextCheckAt(indexed(state, state), deps.now(), settingsOf(deps.env).retentionMs),
    search: searchText(state.spec),
    usage: isTerminalJob(state.status) ? usageText(usageOf(state, deps.now())) : null,
    tags: tagsText(state.spec.tags),
  });
  deps.note((before) => indexed(before, state));
}

/** Removes a scratch folder, unless the operator has removed the bucket. */
async function clearScratch(folder: number, deps: EffectDeps): Promise<void> {
  deps.apply((state) => closeScratch(state, folder));
  const { scratch } = settingsOf(deps.env);
  const state = deps.state();
  if (scratch && mayClearAgain(state, folder)) await openScratch(scratch, state.spec.id, folder).clear();
  deps.apply((before) => scratchCleared(before, folder));
}

async function purge(deps: EffectDeps): Promise<void> {
  const state = deps.state();
  const { id } = state.spec;
  if (state.spec.isProbe) return deps.purge(null);
  await deps.purge(keptMetadata(state, settingsOf(deps.env).listMs, deps.now()));
  // Last, and tried once: if it fails, the sweeper finds the object empty and updates the row.
  await scheduleChecks(deps.env.DB, [{ id, checkAt: null }]);
}

/**
 * Completes an output's multipart uploads, then ends it. The output fails if the storage rejects a file permanently.
 */
async function completeUploads({ task, report }: EffectOf<"complete-uploads">, deps: EffectDeps): Promise<void> {
  const attempts = (deps.state().retries[completionName(task, report)]?.attempts ?? 0) + 1;
  let failure: Failure | null = null;
  try {
    const store = await storeOf(deps);
    for (const file of report.files) {
      const upload = task.uploads[uploadKey(file)];
      if (upload?.uploadId) await store.complete(fileToStore(deps.state(), file), upload.uploadId, file.etags);
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const isLost = isUploadLost(error);
    if (errorTraits(error.code).retry === "now" && attempts < MAX_COMPLETION_ATTEMPTS && !isLost) throw error;
    // An upload that the storage has lost is made again; an upload that it rejects is not.
    failure = isLost ? { code: "node_failed", message: error.message } : failureOf(error);
  }
  const settled = settleUploads(deps.state(), { taskId: task.id, report, failure }, deps.now());
  // Completing them again does no harm. While the job goes on, the next save writes this change, too.
  const mayBeLost = !failure && settled.version === deps.state().version && settled.outbox === deps.state().outbox;
  if (mayBeLost) deps.note(() => settled);
  else deps.apply(() => settled);
}

// Asks the hub whether nodes have the leases that they have not reported on.

async function confirmLeases(deps: EffectDeps): Promise<void> {
  const state = deps.state();
  const leases = leasesToConfirm(state, deps.now());
  if (leases.length === 0) return;
  const holdings = await withDeadline("holders", hubIn(deps).holders(leases));
  const known = new Map(leases.map(({ lease }, at) => [lease, holdings[at] ?? "not-connected"]));
  // A confirmation is not worth a row: the object asks once more if it is evicted.
  const areHeld = [...known.values()].every((holding) => holding === "held");
  const change = areHeld ? deps.note : deps.apply;
  change((before) => applyHoldings(before, known, deps.now()));
}

// Sends a job's events to the object of its account.

/**
 * Sends all due events. The sent events are only noted: if the object dies, they are sent again, and the account
 * recognizes them by their keys.
 */
async function emitEvents(deps: EffectDeps): Promise<void> {
  for (let state = deps.state(); areEventsDue(state); state = deps.state()) {
    const { events, emitted } = dueEvents(state);
    const account = accountOf(deps.env, state.spec.accountId);
    const { id, isProbe } = state.spec;
    await withDeadline("record", isProbe ? account.probeEnded(id) : account.record(events));
    deps.note((before) => ({ ...before, emitted }));
  }
}
