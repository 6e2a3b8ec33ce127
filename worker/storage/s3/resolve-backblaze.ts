// Asks Backblaze where a bucket is that a request names by its id: its name, and the address of its S3 door.
import * as z from "zod";
import { AppError, type ErrorCode } from "#shared/errors.ts";
import { isPassingStatus } from "#shared/network/storage-failure.ts";
import type { AccessKeys, BackblazeBucket, StorageOf } from "#shared/request/storage/storage-spec.ts";
import { fetchWithin } from "../../fetch-within.ts";
import { readLimited } from "../../read-limited.ts";
import { basicHeader } from "../basic-header.ts";

/** A client waits for the answer to its POST meanwhile. */
const REQUEST_LIMIT_MS = 10_000;
/** Far beyond one bucket with all its settings. */
const MAX_ANSWER_BYTES = 256 * 1024;

/** What b2_authorize_account (v4) answers. `buckets` is null for keys that are not limited to some. */
const Account = z.object({
  accountId: z.string(),
  authorizationToken: z.string(),
  apiInfo: z.object({
    storageApi: z.object({
      apiUrl: z.url(),
      s3ApiUrl: z.url(),
      allowed: z.object({ buckets: z.array(z.object({ id: z.string(), name: z.string().nullable() })).nullish() }),
    }),
  }),
});
type Account = z.infer<typeof Account>;

/** What b2_list_buckets (v4) answers. */
const BucketList = z.object({ buckets: z.array(z.object({ bucketId: z.string(), bucketName: z.string() })) });

/**
 * The bucket as S3 has it. Throws AppError: `storage_credentials_not_valid` and `storage_not_valid` for what Backblaze
 * refuses, `service_unavailable` where it cannot be asked.
 */
export async function resolveBackblaze(
  { bucketId, path, options, secure }: BackblazeBucket,
  keys: AccessKeys,
  apiUrl: string,
): Promise<StorageOf<"s3">> {
  const account = await authorize(keys, apiUrl);
  const { s3ApiUrl } = account.apiInfo.storageApi;
  const bucket = await bucketName(account, bucketId);
  const region = /^https?:\/\/s3\.([a-z0-9-]+)\./.exec(s3ApiUrl)?.[1];
  if (region === undefined) throw unavailable("its answer names no region");
  const endpoint = s3ApiUrl.replace(/\/+$/, "");
  return { kind: "s3", endpoint, region, bucket, addressing: "path", path, options, secure };
}

async function authorize(keys: AccessKeys, apiUrl: string): Promise<Account> {
  const request = new Request(`${apiUrl}/b2api/v4/b2_authorize_account`, {
    headers: { authorization: basicHeader(keys) },
  });
  const wrong = "Backblaze does not know these credentials: check `app_key_id` and `app_key` in `storage.credentials`";
  const account = await ask(request, Account, (status) =>
    status === 400 || status === 401 ? ["storage_credentials_not_valid", wrong] : null,
  );
  // Its S3 door does not take this key (Introduction to the S3-Compatible API).
  if (account.accountId === keys.accessKeyId) {
    const master = "`storage.credentials` is the account's master key; create an application key for the bucket";
    throw new AppError("storage_credentials_not_valid", master);
  }
  return account;
}

async function bucketName({ accountId, authorizationToken, apiInfo }: Account, bucketId: string): Promise<string> {
  const { allowed, apiUrl } = apiInfo.storageApi;
  if (allowed.buckets) {
    const bucket = allowed.buckets.find(({ id }) => id === bucketId);
    if (bucket?.name) return bucket.name;
    throw new AppError("storage_not_valid", "`storage.bucket_id`: the application key is limited to other buckets");
  }
  const request = new Request(`${apiUrl}/b2api/v4/b2_list_buckets`, {
    method: "POST",
    headers: { authorization: authorizationToken, "content-type": "application/json" },
    body: JSON.stringify({ accountId, bucketId }),
  });
  const mayNot = "The application key in `storage.credentials` must have the capability `listBuckets`";
  const unknown = "`storage.bucket_id`: there is no bucket with this id in the account of the application key";
  const { buckets } = await ask(request, BucketList, (status) => {
    if (status === 401) return ["storage_credentials_not_valid", mayNot];
    return status === 400 ? ["storage_not_valid", unknown] : null;
  });
  const bucket = buckets.find((candidate) => candidate.bucketId === bucketId);
  if (!bucket) throw new AppError("storage_not_valid", unknown);
  return bucket.bucketName;
}

/** One request. `refusal` says what a status is the client's fault for; all others are Backblaze's. */
async function ask<Answer>(
  request: Request,
  schema: z.ZodType<Answer>,
  refusal: (status: number) => [ErrorCode, string] | null,
): Promise<Answer> {
  const { status, body } = await fetchWithin(REQUEST_LIMIT_MS, request, async (response) => {
    return { status: response.status, body: await readLimited(response.body, MAX_ANSWER_BYTES) };
  }).catch((error: unknown) => {
    throw unavailable("it cannot be reached", error);
  });
  if (status >= 300) {
    const refused = refusal(status);
    if (refused) throw new AppError(...refused);
    if (isPassingStatus(status)) throw unavailable(`it answered HTTP ${status}`);
    throw new AppError("storage_not_valid", `Backblaze refuses to name the bucket (HTTP ${status})`);
  }
  const answer = schema.safeParse(parseJson(body));
  if (!answer.success) throw unavailable("its answer cannot be read");
  return answer.data;
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return null;
  }
}

const unavailable = (why: string, cause?: unknown): AppError =>
  new AppError("service_unavailable", `Backblaze cannot be asked for the bucket: ${why}; try again soon`, { cause });
