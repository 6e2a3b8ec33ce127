// The URLs of a job's source: for nodes, and for clients.
import { AppError } from "#shared/errors.ts";
import type { InputSpec } from "#shared/request/input-section.ts";
import type { AccessSecret } from "#shared/request/storage/storage-spec.ts";
import { presign } from "./s3/s3-requests.ts";
import { keyUrl } from "./s3/s3-urls.ts";

/** Long enough for a source that is fetched slowly, in several attempts: each range is a new request. */
const SIGNED_SECONDS = 12 * 60 * 60;

/** The URL from which nodes fetch a source. */
export async function sourceUrl(input: InputSpec, secret: AccessSecret): Promise<string> {
  if ("url" in secret) return secret.url;
  if (input.kind === "url") throw new AppError("internal_error", "The URL of the input is missing");
  return presign({ region: input.region, keys: secret }, keyUrl(input, input.key), {
    method: "GET",
    seconds: SIGNED_SECONDS,
  });
}

/** The URL of a source as clients see it: without user, password and query. */
export const shownSourceUrl = (input: InputSpec): string =>
  input.kind === "url" ? input.url : keyUrl(input, input.key);
