// The effect that tries a job's storage before anything is encoded for it.
import { AppError } from "#shared/errors.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { tryStorage } from "../../storage/try-storage.ts";
import { storageRefused, storageTried, trialFile } from "../decide/storage-check.ts";
import type { EffectDeps } from "./run-effect.ts";

export const CHECK_NAME = "check-storage";
/** A storage that is being started again answers within these, over two to four seconds. */
const SILENT_TRIES = 3;

/** Throws when it must be tried again. */
export async function checkStorage(open: () => Promise<ObjectStore>, deps: EffectDeps): Promise<void> {
  const state = deps.state();
  const file = trialFile(state);
  const isLate = !state.storageCheck || deps.now() >= state.storageCheck.until;
  if (isLate || !file) return deps.apply((before) => storageTried(before, null));
  const trial = await tryStorage(await open(), file);
  switch (trial.kind) {
    case "good": {
      const { uploadId } = trial;
      const begun = uploadId === null ? null : { objectName: file.objectName, uploadId };
      return deps.apply((before) => storageTried(before, begun));
    }
    case "refused":
      return deps.apply((before) => storageRefused(before, trial.failure, deps.now()));
    case "silent": {
      const tries = (state.retries[CHECK_NAME]?.attempts ?? 0) + 1;
      if (tries < SILENT_TRIES) throw new AppError(trial.failure.code, trial.failure.message);
      return deps.apply((before) => storageRefused(before, trial.failure, deps.now()));
    }
    default:
      return deps.apply((before) => storageTried(before, null));
  }
}
