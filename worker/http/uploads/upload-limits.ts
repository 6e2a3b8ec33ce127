// The limits of an account's uploads. A link that waits for a file counts as an upload of its maximum size.
import { AppError } from "#shared/errors.ts";
import type { Env } from "../../bindings.ts";
import { countUploads, type Uploaded } from "../../db/uploads.ts";
import { settingsOf } from "../../settings.ts";

/** Maximum number of an account's uploads that are not yet removed. */
const MAX_UPLOADS = 1000;

/** The limits, with which the caller stores the upload. Throws AppError(too_many_uploads). */
export async function requireRoom(env: Env, accountId: string, sizeBytes: number): Promise<Uploaded> {
  const limits = { count: MAX_UPLOADS, bytes: settingsOf(env).maxUploadedBytes };
  const uploaded = await countUploads(env.DB, accountId);
  if (uploaded.count < limits.count && uploaded.bytes + sizeBytes <= limits.bytes) return limits;
  throw beyond(limits);
}

export const beyond = ({ count, bytes }: Uploaded): AppError =>
  new AppError(
    "too_many_uploads",
    `The account may have ${count} uploads, of ${bytes} bytes together: delete some, or wait until they are removed`,
  );
