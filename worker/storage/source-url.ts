// URLs of a job's source: for nodes, and for clients.
import { AppError, assertNever } from "#shared/errors.ts";
import { folderUrl } from "#shared/job/folder-url.ts";
import type { InputSpec } from "#shared/request/input-section.ts";
import type { AccessSecret } from "#shared/request/storage/storage-spec.ts";
import type { Settings } from "../settings.ts";
import { blobSas } from "./azure/azure-sas.ts";
import { blobUrl } from "./azure/azure-store.ts";
import { encodePath } from "./encode-path.ts";
import { presign } from "./s3/s3-requests.ts";
import { keyUrl } from "./s3/s3-urls.ts";
import { scratchUploadUrl } from "./source-uploads/scratch-uploads.ts";
import { signUploadGet } from "./source-uploads/upload-url.ts";

/** Long enough to fetch a source slowly and in several attempts: each range is a new request. */
const SIGNED_SECONDS = 12 * 60 * 60;

type UrlSettings = Pick<Settings, "sealingKeys" | "scratch">;

/** The URL from which nodes fetch a source. */
export async function sourceUrl(input: InputSpec, secret: AccessSecret | null, settings: UrlSettings): Promise<string> {
  if (input.kind === "upload") return await uploadUrl(input, settings, SIGNED_SECONDS);
  if (input.kind === "folder") return folderUrl({ folder: input.folder, path: input.key });
  if (secret && "url" in secret) return secret.url;
  if (!secret || input.kind === "url") throw new AppError("internal_error", "The URL of the input is missing");
  if (input.kind === "azure") {
    const permission = { blob: input.key, permissions: "r", expiresAt: Date.now() + SIGNED_SECONDS * 1000 } as const;
    return `${blobUrl(input, input.key)}?${await blobSas(input, permission, secret.secretAccessKey)}`;
  }
  return presign({ region: input.region, keys: secret }, keyUrl(input, input.key), {
    method: "GET",
    seconds: SIGNED_SECONDS,
  });
}

type StoredUpload = Pick<Extract<InputSpec, { kind: "upload" }>, "id" | "name" | "origin" | "store">;

/**
 * The URL of an upload in its storage, valid for `seconds`. Throws AppError(storage_unreachable) when the service has
 * lost access to this storage.
 */
export async function uploadUrl(
  { id, name, origin, store }: StoredUpload,
  { sealingKeys, scratch }: UrlSettings,
  seconds: number,
): Promise<string> {
  if (store === "bucket") return origin + (await signUploadGet({ id, name }, Date.now() + seconds * 1000, sealingKeys));
  if (scratch) return await scratchUploadUrl(scratch, id, seconds);
  throw new AppError("storage_unreachable", "The storage of uploads is no longer available: its operator removed it");
}

/** The URL of a source that clients see: without user, password and query. */
export function shownSourceUrl(input: InputSpec): string {
  switch (input.kind) {
    case "url":
      return input.url;
    case "bucket":
      return keyUrl(input, input.key);
    case "azure":
      return blobUrl(input, input.key);
    case "folder":
      return folderUrl({ folder: input.folder, path: input.key });
    case "upload":
      return `upload://${input.id}/${encodePath(input.name)}`;
    default:
      return assertNever(input);
  }
}
