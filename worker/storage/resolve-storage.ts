// From a storage as it was asked for to one that jobs can work with: what only others can say is asked of them.
import { AppError, assertNever } from "#shared/errors.ts";
import type { AccessKeys, RequestedStorage, StorageSpec } from "#shared/request/storage/storage-spec.ts";
import { type Env, settingsOf } from "../env.ts";
import { resolveBackblaze } from "./s3/resolve-backblaze.ts";

export type ResolveInputs = {
  readonly env: Env;
  /** Scheme and host under which the client reached this Worker. */
  readonly origin: string;
  readonly keys: AccessKeys | null;
};

/** Completes a requested storage. Throws AppError(storage_* | service_unavailable). */
export async function resolveStorage(
  requested: RequestedStorage,
  { env, origin, keys }: ResolveInputs,
): Promise<StorageSpec> {
  switch (requested.kind) {
    case "s3":
    case "azure":
    case "http":
      return requested;
    case "builtin":
      return { ...requested, origin: builtinOrigin(env) ?? origin };
    case "backblaze":
      if (!keys) throw new AppError("internal_error", "Backblaze needs its keys");
      return resolveBackblaze(requested, keys, settingsOf(env).b2ApiUrl);
    default:
      return assertNever(requested);
  }
}

/** The operator's word for the origin of the service's own storage, null where that is the request's. */
function builtinOrigin(env: Env): string | null {
  if (env.STORAGE) return settingsOf(env).publicUrl;
  throw new AppError(
    "storage_service_not_valid",
    "`storage.service` `coconut` is not offered here: the operator must bind an R2 bucket to the Worker as STORAGE",
  );
}
