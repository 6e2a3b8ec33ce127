// What a job wants of the client's storage, whichever it is: nodes upload by signed requests, the rest happens here.
import { AppError, assertNever } from "#shared/errors.ts";
import type { JobId } from "#shared/ids.ts";
import type { OutputType } from "#shared/job/output-status.ts";
import type { UploadPart } from "#shared/protocol/protocol.ts";
import type { AccessKeys, StorageSpec } from "#shared/request/storage/storage-spec.ts";
import { type Env, settingsOf } from "../env.ts";
import { azureStore, azureUrl } from "./azure/azure-store.ts";
import type { UploadHolder } from "./builtin/builtin-signature.ts";
import { builtinStore, builtinUrl } from "./builtin/builtin-store.ts";
import { httpStore, httpUrl } from "./http-store.ts";
import { s3Store } from "./s3/s3-store.ts";
import { shownUrl } from "./s3/s3-urls.ts";

/** A file that is to become an object below the storage's own path. */
export type FileToStore = {
  readonly objectName: string;
  readonly contentType: string;
  /** What caches are told of it where the client says nothing of that for its storage; null: nothing. */
  readonly cacheControl: string | null;
  readonly sizeBytes: number;
  /** The output that it is a file of. */
  readonly output: { readonly key: string; readonly type: OutputType };
};

/** How long a storage may take to answer a trial: encoding waits for it. */
export const TRIAL_LIMIT_MS = 10_000;

export interface ObjectStore {
  /**
   * Asks whether such a file could be stored, and stores nothing: answers the upload that it had to begin for that, or null.
   * Throws AppError(storage_*).
   */
  tryOut(file: FileToStore): Promise<string | null>;
  /** Sizes in bytes of the parts that a file goes up in, in order, when its upload was begun. */
  partSizes(sizeBytes: number): number[];
  /** Begins an upload and answers its id, or null when its only part stores it. Throws AppError(storage_*). */
  begin(file: FileToStore): Promise<string | null>;
  /**
   * Signed requests for all parts of an upload; without an id one request that stores the whole file, whatever its size.
   * Of the service's own storage they end with the lease of `holder`, without which nothing is stored; other storages cannot
   * ask for it.
   * Throws AppError(storage_denied) for a file that is too large to be stored at once.
   */
  sign(file: FileToStore, uploadId: string | null, holder?: UploadHolder): Promise<UploadPart[]>;
  /** Makes an object of the parts; `etags` as the storage answered them. Twice is fine. Throws AppError(storage_*). */
  complete(file: FileToStore, uploadId: string, etags: readonly string[]): Promise<void>;
  /** Forgets an upload that was begun; one that is gone already is fine. Throws AppError(storage_*). */
  abort(objectName: string, uploadId: string): Promise<void>;
}

/** What is stored where: a JobSpec. */
type Stored = { readonly id: JobId; readonly storage: StorageSpec };

/** Opens a job's storage. `keys` is null where none are needed. */
export function openStore({ id, storage }: Stored, keys: AccessKeys | null, env: Env): ObjectStore {
  switch (storage.kind) {
    case "s3":
      return s3Store(storage, needed(keys), settingsOf(env).allowPrivate);
    case "azure":
      return azureStore(storage, needed(keys), settingsOf(env).allowPrivate);
    case "builtin": {
      if (!env.STORAGE) throw new AppError("storage_unreachable", "The service's own storage is no longer offered");
      return builtinStore({ bucket: env.STORAGE, jobId: id, storage, keys: settingsOf(env).sealingKeys });
    }
    case "http":
      return httpStore({ jobId: id, storage, keys, allow: settingsOf(env).allowPrivate });
    default:
      return assertNever(storage);
  }
}

function needed(keys: AccessKeys | null): AccessKeys {
  if (!keys) throw new AppError("internal_error", "The storage needs its keys");
  return keys;
}

/** The address of an object as clients are shown it. */
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
    default:
      return assertNever(storage);
  }
}
