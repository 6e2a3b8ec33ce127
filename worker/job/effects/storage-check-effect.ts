// Checks a job's storage before anything is encoded for it.
import { AppError } from "#shared/errors.ts";
import type { AccessKeys } from "#shared/request/storage/storage-spec.ts";
import { keyedDigest } from "../../crypto/keyed-digest.ts";
import { withDeadline } from "../../deadline.ts";
import { ExpiringMap } from "../../expiring-map.ts";
import { settingsOf } from "../../settings.ts";
import { checkStorageAccess } from "../../storage/check-storage-access.ts";
import { openStore } from "../../storage/open-store.ts";
import { sampleFile, storageChecked, storageMoved, storageRejected } from "../decide/storage-check.ts";
import { openJobSecrets } from "../secrets/job-secrets.ts";
import type { EffectDeps } from "./effect.ts";

export const CHECK_NAME = "check-storage";
/** Attempts, over two to four seconds: a storage that restarts responds by then. */
const MAX_ATTEMPTS = 3;

/** Storages that accepted a check in the last ten minutes, by their names, in the memory of one isolate. */
const accepted = new ExpiringMap<true>(10 * 60_000, 1000);

/** The running checks by the names of their storages: the first job of a batch checks the storage for all. */
const running = new Map<string, Promise<unknown>>();
/** A job that checks the storage for others may die. */
const OTHERS_MS = 5000;

/** Throws if the check must be tried again. */
export async function checkStorage(deps: EffectDeps): Promise<void> {
  const [keys, name] = await keysAndName(deps);
  const other = running.get(name);
  if (other) await withDeadline("storage check", other, OTHERS_MS).catch(() => {});
  const state = deps.state();
  const file = sampleFile(state);
  const isLate = !state.storageCheck || deps.now() >= state.storageCheck.until;
  if (isLate || !file) return deps.apply((before) => storageChecked(before, null));
  if (accepted.get(name, deps.now())) return deps.note((before) => storageChecked(before, null));
  const check = checkStorageAccess(openStore(state.spec, keys, deps.env), file).then((access) => {
    if (access.kind === "accepted") accepted.set(name, true, deps.now());
    return access;
  });
  running.set(name, check);
  const access = await check.finally(() => running.delete(name));
  switch (access.kind) {
    case "accepted": {
      const { uploadId } = access;
      const upload = uploadId === null ? null : { objectName: file.objectName, uploadId };
      // If this is lost, the storage is checked again, and the bucket's lifecycle rules remove the upload.
      return deps.note((before) => storageChecked(before, upload));
    }
    case "rejected":
      if (access.bucketRegion !== null && hasMoved(access.bucketRegion, deps)) return checkStorage(deps);
      return deps.apply((before) => storageRejected(before, access.failure, deps.now()));
    case "unreachable": {
      const attempts = (state.retries[CHECK_NAME]?.attempts ?? 0) + 1;
      if (attempts < MAX_ATTEMPTS) throw AppError.from(access.failure);
      return deps.apply((before) => storageRejected(before, access.failure, deps.now()));
    }
    default:
      return deps.apply((before) => storageChecked(before, null));
  }
}

/** Checks the storage of a failed job again for the next job. */
export async function forgetStorage(deps: EffectDeps): Promise<void> {
  const [, name] = await keysAndName(deps);
  accepted.delete(name);
}

/** The keys of a job's storage, and a name of the storage for this account and these keys. */
async function keysAndName({ env, state }: EffectDeps): Promise<[keys: AccessKeys | null, name: string]> {
  const { spec } = state();
  const { sealingKeys } = settingsOf(env);
  const { storage: keys } = await openJobSecrets(spec, sealingKeys);
  const text = JSON.stringify([spec.accountId, spec.storage, keys]);
  return [keys, keyedDigest("copra storage check 1", text, sealingKeys[0])];
}

/** Corrects the region of the bucket. Returns false if that was tried before. */
function hasMoved(region: string, deps: EffectDeps): boolean {
  const { spec } = deps.state();
  deps.apply((before) => storageMoved(before, region) ?? before);
  return deps.state().spec !== spec;
}
