// The storage of a job, whatever its kind.
import { AppError, assertNever } from "#shared/errors.ts";
import type { JobId } from "#shared/ids.ts";
import type { AccessKeys, StorageSpec } from "#shared/request/storage/storage-spec.ts";
import { type SettingsVariables, settingsOf } from "../settings.ts";
import { azureStore, azureUrl } from "./azure/azure-store.ts";
import { builtinStore, builtinUrl } from "./builtin/builtin-store.ts";
import { folderStore, storedFolderUrl } from "./folder-store.ts";
import { httpStore, httpUrl } from "./http-store.ts";
import type { ObjectStore, StorageBinding } from "./object-store.ts";
import { s3Store } from "./s3/s3-store.ts";
import { shownUrl } from "./s3/s3-urls.ts";

export type StorageEnv = StorageBinding & SettingsVariables;

/** The part of a JobSpec that names its storage. */
type Stored = { readonly id: JobId; readonly storage: StorageSpec };

/** Opens a job's storage. `keys` is null for storages without keys. */
export function openStore({ id, storage }: Stored, keys: AccessKeys | null, env: StorageEnv): ObjectStore {
  switch (storage.kind) {
    case "s3":
      return s3Store(storage, needed(keys), settingsOf(env).allowPrivate);
    case "azure":
      return azureStore(storage, needed(keys), settingsOf(env).allowPrivate);
    case "builtin": {
      if (!env.STORAGE)
        throw new AppError(
          "storage_unreachable",
          "The service's own storage is no longer available: its operator removed the bucket",
        );
      return builtinStore({ bucket: env.STORAGE, jobId: id, storage, keys: settingsOf(env).sealingKeys });
    }
    case "http":
      return httpStore({ jobId: id, storage, keys, allow: settingsOf(env).allowPrivate });
    case "folder":
      return folderStore(storage);
    default:
      return assertNever(storage);
  }
}

function needed(keys: AccessKeys | null): AccessKeys {
  if (!keys) throw new AppError("internal_error", "The keys of the storage are missing");
  return keys;
}

/** The URL of an object as clients see it. */
export function publicUrlOf({ id, storage }: Stored, objectName: string): string {
  switch (storage.kind) {
    case "s3":
      return shownUrl(storage, objectName);
    case "azure":
      return azureUrl(storage, objectName);
    case "builtin":
      return builtinUrl(id, storage, objectName);
    case "http":
      return httpUrl(storage, objectName);
    case "folder":
      return storedFolderUrl(storage, objectName);
    default:
      return assertNever(storage);
  }
}
