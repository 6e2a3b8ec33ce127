// Carries out what a job owes: each effect talks to one neighbour and puts what came of it into the state.
import { AppError, assertNever, errorTraits, type Failure } from "#shared/errors.ts";
import { checkAgain, upsertJob } from "../../db/jobs.ts";
import type { TicketOffer } from "../../dispatch/tickets.ts";
import { type Env, hubOf, settingsOf } from "../../env.ts";
import { removeObjects } from "../../storage/builtin/builtin-store.ts";
import { type ObjectStore, openStore } from "../../storage/object-store.ts";
import { openScratch } from "../../storage/scratch/scratch.ts";
import { isUploadLost } from "../../storage/upload-gone.ts";
import { activeWork } from "../chunks/chunk-work.ts";
import { runnableTasks } from "../decide/leases.ts";
import { settlePublished } from "../decide/output-reports.ts";
import type { MadeReport } from "../decide/remaining-outputs.ts";
import { startOf } from "../decide/storage-check.ts";
import { openJobSecrets } from "../secrets/job-secrets.ts";
import type { JobState, TaskState } from "../state/job-state.ts";
import { fileToStore, uploadKey } from "../uploads/job-files.ts";
import { viewJob } from "../views/job-view.ts";
import { tryDelivery } from "./deliver-effect.ts";
import {
  advertised,
  type Effect,
  indexed,
  mayAbortAgain,
  nextCheckAt,
  publishName,
  revoked,
  uploadAborted,
} from "./job-effects.ts";
import { checkStorage } from "./run-storage-check.ts";
import { closeScratch, mayClearAgain, scratchCleared } from "./scratch-effects.ts";

export interface EffectDeps {
  readonly env: Env;
  state(): JobState;
  /** Changes the state as it is by then: others may have changed it while an effect waited. */
  apply(change: (state: JobState) => JobState): void;
  now(): number;
  purge(): Promise<void>;
}

/** How long the node that has the source is waited for before any other may take its work. */
const PREFERENCE_MS = 2000;
/** How long the node is waited for that has a part of the source and gave way to others; it keeps that for 30 minutes. */
const PART_PREFERENCE_MS = 10 * 60_000;
/** How long a node that failed or lost a task is passed by while others are connected. */
const AVOID_MS = 5 * 60_000;
/** Attempts, over several minutes, to have the storage complete uploads before their outputs are given up. */
const MAX_PUBLISH_ATTEMPTS = 12;

/** Carries out one effect. Throws when it must be tried again. */
export async function runEffect(effect: Effect, deps: EffectDeps): Promise<void> {
  switch (effect.kind) {
    case "advertise":
      return advertise(effect, deps);
    case "check-storage":
      return checkStorage(() => storeOf(deps), deps);
    case "publish":
      return publish(effect, deps);
    case "revoke": {
      await hubOf(deps.env).revoke(effect.leases);
      return deps.apply((state) => revoked(state, effect.leases));
    }
    case "abort-upload": {
      const { objectName, uploadId } = effect.upload;
      if (mayAbortAgain(deps.state(), effect.upload)) {
        await (await storeOf(deps)).abort(objectName, uploadId);
      }
      return deps.apply((state) => uploadAborted(state, effect.upload));
    }
    case "index":
      return index(deps);
    case "deliver":
      return tryDelivery(effect.delivery, deps);
    case "clear-storage": {
      // A bucket that the operator took away took the objects with it.
      if (deps.env.STORAGE) await removeObjects(deps.env.STORAGE, deps.state().spec.id);
      return deps.apply((state) => ({ ...state, storageCleared: true }));
    }
    case "clear-scratch":
      return clearScratch(effect.folder, deps);
    case "purge": {
      const { id } = deps.state().spec;
      await deps.purge();
      // Last, and tried once: a row that does not know yet leads the sweeper to an object that is empty.
      return checkAgain(deps.env.DB, [{ id, checkAt: null }]);
    }
    default:
      return assertNever(effect);
  }
}

const openSecrets = ({ env, state }: EffectDeps): ReturnType<typeof openJobSecrets> =>
  openJobSecrets(state().spec, settingsOf(env).sealingKeys);

const storeOf = async (deps: EffectDeps): Promise<ObjectStore> =>
  openStore(deps.state().spec, (await openSecrets(deps)).storage, deps.env);

async function advertise({ slotClass }: Effect & { kind: "advertise" }, deps: EffectDeps): Promise<void> {
  const now = deps.now();
  const state = deps.state();
  const tasks = runnableTasks(state, slotClass);
  const turnAt = Math.min(...tasks.map((task) => task.turnAt));
  const offer: TicketOffer = {
    jobId: state.spec.id,
    accountId: state.spec.accountId,
    slotClass,
    count: tasks.filter((task) => startOf(state, task) <= now).length,
    since: Math.max(state.spec.createdAt, turnAt),
    // Chunks are for all nodes alike.
    prefer: activeWork(state) ? null : state.sourceNode,
    preferUntil: Math.max(now + PREFERENCE_MS, turnAt > 0 ? turnAt + PART_PREFERENCE_MS : 0),
    // A node that one task avoids may still have the others.
    avoid: (tasks[0]?.avoid ?? []).filter((nodeId) => tasks.every((task) => task.avoid.includes(nodeId))),
    avoidUntil: Math.max(...tasks.map((task) => task.notBefore)) + AVOID_MS,
  };
  await hubOf(deps.env).advertise(offer);
  // Marked after the call, so that a death amid it is no mark; demand that arose meanwhile was not told of.
  const told = new Set(tasks.map(({ id, attempt }) => leaseName(id, attempt)));
  deps.apply((before) => {
    const isTold = runnableTasks(before, slotClass).every(({ id, attempt }) => told.has(leaseName(id, attempt)));
    return isTold ? advertised(before, slotClass, now) : before;
  });
}

const leaseName = (task: string, attempt: number): string => `${task}.${attempt}`;

async function index(deps: EffectDeps): Promise<void> {
  const state = deps.state();
  await upsertJob(deps.env.DB, {
    id: state.spec.id,
    accountId: state.spec.accountId,
    status: state.status,
    version: state.version,
    createdAt: state.spec.createdAt,
    completedAt: state.completedAt,
    view: JSON.stringify(viewJob(state)),
    // As it will be once this is done: the purge waits for it, and this row is to be asked after then.
    checkAt: nextCheckAt(indexed(state, state.version), deps.now(), settingsOf(deps.env).retentionMs),
  });
  deps.apply((before) => indexed(before, state.version));
}

/** Removes a scratch folder; a bucket that the operator took away is none of our business any more. */
async function clearScratch(folder: number, deps: EffectDeps): Promise<void> {
  deps.apply((state) => closeScratch(state, folder));
  const { scratch } = settingsOf(deps.env);
  const state = deps.state();
  if (scratch && mayClearAgain(state, folder)) await openScratch(scratch, state.spec.id, folder).clear();
  deps.apply((before) => scratchCleared(before, folder));
}

/** Completes an output's multipart uploads, then ends it; an output whose file the storage refuses has failed. */
async function publish({ task, report }: Effect & { kind: "publish" }, deps: EffectDeps): Promise<void> {
  const attempts = (deps.state().retries[publishName(task, report)]?.attempts ?? 0) + 1;
  let failure: Failure | null = null;
  try {
    await completeFiles(await storeOf(deps), deps.state(), task, report);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const isLost = isUploadLost(error);
    if (errorTraits(error.code).retryable && attempts < MAX_PUBLISH_ATTEMPTS && !isLost) throw error;
    // What the storage has lost must be made again, unlike what it does not take.
    failure = { code: isLost ? "node_failed" : error.code, message: error.message };
  }
  deps.apply((state) => settlePublished(state, task.id, report, failure, deps.now()));
}

async function completeFiles(store: ObjectStore, state: JobState, task: TaskState, report: MadeReport): Promise<void> {
  for (const file of report.files) {
    const upload = task.uploads[uploadKey(file)];
    if (!upload?.uploadId) continue;
    await store.complete(fileToStore(state, file), upload.uploadId, file.etags);
  }
}
