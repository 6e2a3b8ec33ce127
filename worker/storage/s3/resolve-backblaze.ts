// Looks up a bucket at Backblaze by the id in the request: finds its name and its S3 endpoint.
import * as z from "zod";
import { AppError, type ErrorCode } from "#shared/errors.ts";
import { isTransientStatus } from "#shared/network/storage-failure.ts";
import type { AccessKeys, S3Bucket } from "#shared/request/storage/storage-spec.ts";
import { basicHeader } from "../../http-client/basic-header.ts";
import { fetchWithin } from "../../http-client/fetch-within.ts";
import { readLimited } from "../../http-client/read-limited.ts";

/** The client waits for the response to its POST meanwhile. */
const REQUEST_LIMIT_MS = 10_000;
/** Far more than a bucket with all its settings needs. */
const MAX_RESPONSE_BYTES = 256 * 1024;

/** The response of b2_authorize_account (v4). `buckets` is null for keys that are valid for all buckets. */
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

/** The response of b2_list_buckets (v4). */
const BucketList = z.object({ buckets: z.array(z.object({ bucketId: z.string(), bucketName: z.string() })) });

/** The section of the request that has the bucket. */
type Section = "storage" | "input";

/** Error codes for credentials and other fields of a section. */
const CODES: Readonly<Record<Section, { readonly keys: ErrorCode; readonly fields: ErrorCode }>> = {
  storage: { keys: "storage_credentials_not_valid", fields: "storage_not_valid" },
  input: { keys: "input_not_valid", fields: "input_not_valid" },
};

/**
 * The bucket as an S3 bucket. Throws AppError: `storage_credentials_not_valid` and `storage_not_valid`, for an input
 * `input_not_valid`, when Backblaze rejects the request, and `service_unavailable` when Backblaze cannot be reached.
 */
export async function resolveBackblaze(
  bucketId: string,
  keys: AccessKeys,
  { apiUrl, section }: { readonly apiUrl: string; readonly section: Section },
): Promise<S3Bucket> {
  const account = await authorize(keys, apiUrl, section);
  const { s3ApiUrl } = account.apiInfo.storageApi;
  const bucket = await bucketName(account, bucketId, section);
  const region = /^https?:\/\/s3\.([a-z0-9-]+)\./.exec(s3ApiUrl)?.[1];
  if (region === undefined) throw unavailable("its response has no region");
  const endpoint = s3ApiUrl.replace(/(?<!\/)\/+$/, "");
  return { endpoint, region, bucket, addressing: "path" };
}

async function authorize(keys: AccessKeys, apiUrl: string, section: Section): Promise<Account> {
  const request = new Request(`${apiUrl}/b2api/v4/b2_authorize_account`, {
    headers: { authorization: basicHeader(keys) },
  });
  const code = CODES[section].keys;
  const wrong = `Backblaze does not know these credentials: check \`app_key_id\` and \`app_key\` in \`${section}.credentials\``;
  const account = await sendRequest(request, Account, section, (status) =>
    status === 400 || status === 401 ? [code, wrong] : null,
  );
  // Backblaze's S3 endpoint does not accept the master key (Introduction to the S3-Compatible API).
  if (account.accountId === keys.accessKeyId) {
    const master = "is the account's master key, which S3 does not accept; create an application key for the bucket";
    throw new AppError(code, `\`${section}.credentials\` ${master}`);
  }
  return account;
}

async function bucketName(
  { accountId, authorizationToken, apiInfo }: Account,
  bucketId: string,
  section: Section,
): Promise<string> {
  const codes = CODES[section];
  const { allowed, apiUrl } = apiInfo.storageApi;
  if (allowed.buckets) {
    const bucket = allowed.buckets.find(({ id }) => id === bucketId);
    if (bucket?.name) return bucket.name;
    throw new AppError(codes.fields, `\`${section}.bucket_id\`: the application key is not valid for this bucket`);
  }
  const request = new Request(`${apiUrl}/b2api/v4/b2_list_buckets`, {
    method: "POST",
    headers: { authorization: authorizationToken, "content-type": "application/json" },
    body: JSON.stringify({ accountId, bucketId }),
  });
  const mayNot = `The application key in \`${section}.credentials\` must have the capability \`listBuckets\``;
  const unknown = `\`${section}.bucket_id\`: there is no bucket with this id in the account of the application key`;
  const { buckets } = await sendRequest(request, BucketList, section, (status) => {
    if (status === 401) return [codes.keys, mayNot];
    return status === 400 ? [codes.fields, unknown] : null;
  });
  const bucket = buckets.find((candidate) => candidate.bucketId === bucketId);
  if (!bucket) throw new AppError(codes.fields, unknown);
  return bucket.bucketName;
}

/** Sends a request. `rejection` returns the error for a status that the client causes; other errors are Backblaze's. */
async function sendRequest<Body>(
  request: Request,
  schema: z.ZodType<Body>,
  section: Section,
  rejection: (status: number) => [ErrorCode, string] | null,
): Promise<Body> {
  const { status, body } = await fetchWithin(REQUEST_LIMIT_MS, request, async (response) => {
    return { status: response.status, body: await readLimited(response.body, MAX_RESPONSE_BYTES) };
  }).catch((error: unknown) => {
    throw unavailable("it cannot be reached", error);
  });
  if (status >= 300) {
    const rejected = rejection(status);
    if (rejected) throw new AppError(...rejected);
    if (isTransientStatus(status)) throw unavailable(`it responded with HTTP ${status}`);
    throw new AppError(CODES[section].fields, `Backblaze rejected the look-up of the bucket (HTTP ${status})`);
  }
  const parsed = schema.safeParse(parseJson(body));
  if (!parsed.success) throw unavailable("its response is not valid");
  return parsed.data;
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return null;
  }
}

const unavailable = (reason: string, cause?: unknown): AppError =>
  new AppError("service_unavailable", `The bucket cannot be looked up at Backblaze: ${reason}; try again later`, {
    cause,
  });
