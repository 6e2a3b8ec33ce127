// Completes a requested input with facts that only the service knows.
import { AppError } from "#shared/errors.ts";
import type { InputSpec, RequestedInput } from "#shared/request/input-section.ts";
import type { AccessSecret } from "#shared/request/storage/storage-spec.ts";
import { findUpload } from "../../../db/uploads.ts";
import { placeAtService } from "../../../service-origins.ts";
import { publicOrigin, settingsOf } from "../../../settings.ts";
import { requireFolder } from "../../../storage/require-folder.ts";
import { resolveBackblaze } from "../../../storage/s3/resolve-backblaze.ts";
import { storeNameOf } from "../../../storage/source-uploads/remove-uploads.ts";
import type { JobCreator } from "./new-job.ts";

/**
 * Throws AppError(input_not_valid) for an upload that is not completed, or that the account does not have. Throws
 * AppError(input_url_not_valid) for a URL of the service itself, except its stored outputs and the sample clip. Throws
 * AppError(input_not_valid | service_unavailable) for a bucket that Backblaze does not show. Throws
 * AppError(input_not_valid) for a folder that the account does not have.
 */
export async function resolveInput(
  { env, account, origin }: JobCreator,
  requested: RequestedInput,
  secret: AccessSecret | null,
): Promise<InputSpec> {
  if (requested.kind === "url" && placeAtService(requested.url, settingsOf(env)) === "other") {
    throw new AppError("input_url_not_valid", "`input.url` leads to this service itself, which is no source");
  }
  if (requested.kind === "backblaze") {
    const { key, bucketId } = requested;
    if (!secret || "url" in secret) throw new AppError("internal_error", "The keys of Backblaze are missing");
    const at = { apiUrl: settingsOf(env).b2ApiUrl, section: "input" } as const;
    return { kind: "bucket", ...(await resolveBackblaze(bucketId, secret, at)), key };
  }
  if (requested.kind === "folder") requireFolder({ env, account }, "input", requested.folder);
  if (requested.kind !== "upload") return requested;
  const upload = await findUpload(env.DB, account.id, requested.id, Date.now());
  if (!upload) {
    const message = "`input.upload`: the account has no upload with this id, or it was removed";
    throw new AppError("input_not_valid", message);
  }
  if (upload.status !== "completed") {
    throw new AppError("input_not_valid", "`input.upload`: the upload is not completed");
  }
  return { ...requested, name: upload.name, store: storeNameOf(upload), origin: publicOrigin(env, origin) };
}
