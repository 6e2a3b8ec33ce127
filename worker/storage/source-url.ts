// The addresses of a job's source: for nodes to fetch it from, and for people to see.
import { AppError } from "#shared/errors.ts";
import type { InputSpec } from "#shared/request/input-section.ts";
import type { AccessSecret } from "#shared/request/storage/storage-spec.ts";
import { presign } from "./s3/s3-requests.ts";
import { keyUrl } from "./s3/s3-urls.ts";

/** Long enough for a source that is fetched slowly, in several tries: each new range is a request of its own. */
const SIGNED_SECONDS = 12 * 60 * 60;

/** The address that nodes fetch a source from. */
export async function sourceUrl(input: InputSpec, secret: AccessSecret): Promise<string> {
  if ("url" in secret) return secret.url;
  if (input.kind === "url") throw new AppError("internal_error", "The input's address is missing");
  return presign({ region: input.region, keys: secret }, keyUrl(input, input.key), {
    method: "GET",
    seconds: SIGNED_SECONDS,
  });
}

/** The address of a source as clients are shown it: without user, password and query. */
export const shownSourceUrl = (input: InputSpec): string =>
  input.kind === "url" ? input.url : keyUrl(input, input.key);
