// The addresses of a job's source: for nodes to fetch it from, and for people to see.
import { AppError } from "#shared/errors.ts";
import { publicUrl } from "#shared/metadata.ts";
import type { InputSpec } from "#shared/request/input-section.ts";
import type { AccessKeys } from "#shared/request/storage-spec.ts";
import { presign } from "./s3-requests.ts";
import { keyUrl } from "./s3-target.ts";

/** Long enough for a source that is fetched slowly, in several tries: each new range is a request of its own. */
const SIGNED_SECONDS = 12 * 60 * 60;

/** The address that nodes fetch a source from. `keys` is null where none are needed. */
export async function sourceUrl(input: InputSpec, keys: AccessKeys | null): Promise<string> {
  if (input.kind === "url") return input.url;
  if (!keys) throw new AppError("internal_error", "The input's bucket needs its keys");
  return presign({ region: input.region, keys }, keyUrl(input, input.key), { method: "GET", seconds: SIGNED_SECONDS });
}

/** The address of a source as clients are shown it: without user, password and query. */
export const shownSourceUrl = (input: InputSpec): string =>
  input.kind === "url" ? publicUrl(input.url) : keyUrl(input, input.key);
