// Completes a requested storage with data that only the service or its provider knows.
import { AppError, assertNever } from "#shared/errors.ts";
import type { AccessKeys, RequestedStorage, StorageSpec } from "#shared/request/storage/storage-spec.ts";
import { settingsOf } from "../settings.ts";
import type { StorageEnv } from "./open-store.ts";
import { requireFolder } from "./require-folder.ts";
import { resolveBackblaze } from "./s3/resolve-backblaze.ts";

export type ResolveInputs = {
  readonly env: StorageEnv;
  /** Scheme and host of the client's request. */
  readonly origin: string;
  readonly keys: AccessKeys | null;
  readonly account: { readonly id: string };
};

/** Completes a requested storage. Throws AppError(storage_* | service_unavailable). */
export async function resolveStorage(
  requested: RequestedStorage,
  { env, origin, keys, account }: ResolveInputs,
): Promise<StorageSpec> {
  switch (requested.kind) {
    case "s3":
    case "azure":
    case "http":
      return requested;
    case "folder":
      requireFolder({ env, account }, "storage", requested.folder);
      return requested;
    case "builtin":
      return { ...requested, origin: builtinOrigin(env) ?? origin };
    case "backblaze": {
      if (!keys) throw new AppError("internal_error", "The keys of Backblaze are missing");
      const { bucketId, path, options, secure } = requested;
      const at = { apiUrl: settingsOf(env).b2ApiUrl, section: "storage" } as const;
      return { kind: "s3", ...(await resolveBackblaze(bucketId, keys, at)), path, options, secure };
    }
    default:
      return assertNever(requested);
  }
}

/** The origin of the service's own storage that the operator has set; null: the request's origin is used. */
function builtinOrigin(env: StorageEnv): string | null {
  if (env.STORAGE) return settingsOf(env).publicUrl;
  throw new AppError(
    "storage_service_not_valid",
    "`storage.service` `coconut` is not available: the operator must bind an R2 bucket to the Worker as STORAGE",
  );
}
