// Checks a job's storage before anything is encoded for it.
import { AppError } from "#shared/errors.ts";
import { checkStorageAccess } from "../../storage/check-storage-access.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { sampleFile, storageChecked, storageMoved, storageRejected } from "../decide/storage-check.ts";
import type { EffectDeps } from "./effect.ts";

export const CHECK_NAME = "check-storage";
/** Attempts, over two to four seconds: a storage that restarts responds by then. */
const MAX_ATTEMPTS = 3;

/** Throws if the check must be tried again. */
export async function checkStorage(open: () => Promise<ObjectStore>, deps: EffectDeps): Promise<void> {
  const state = deps.state();
  const file = sampleFile(state);
  const isLate = !state.storageCheck || deps.now() >= state.storageCheck.until;
  if (isLate || !file) return deps.apply((before) => storageChecked(before, null));
  const access = await checkStorageAccess(await open(), file);
  switch (access.kind) {
    case "accepted": {
      const { uploadId } = access;
      const upload = uploadId === null ? null : { objectName: file.objectName, uploadId };
      // If this is lost, the storage is checked again, and the bucket's lifecycle rules remove the upload.
      return deps.note((before) => storageChecked(before, upload));
    }
    case "rejected":
      if (access.bucketRegion !== null && hasMoved(access.bucketRegion, deps)) return checkStorage(open, deps);
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

/** Corrects the region of the bucket. Returns false if that was tried before. */
function hasMoved(region: string, deps: EffectDeps): boolean {
  const { spec } = deps.state();
  deps.apply((before) => storageMoved(before, region) ?? before);
  return deps.state().spec !== spec;
}
