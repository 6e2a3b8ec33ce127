// Error responses of storage services: their meaning for clients, in messages without URLs, signatures and keys. Pure.
import { AppError, type ErrorCode } from "../errors.ts";

export type StorageResponse = {
  /** The HTTP status. It is below 300 only if the body reports an error. */
  readonly status: number;
  /** Start of the body: an `<Error>` document with a `<Code>` (S3 and Azure), or any other text. */
  readonly body: string;
  /** The header `x-amz-bucket-region`: the region of the bucket. */
  readonly bucketRegion?: string | null;
};

/** Statuses for an expired signature: 403 of S3 and Azure, 400 of Google Cloud and of S3 with session tokens. */
const EXPIRED_STATUSES = new Set([400, 401, 403]);

/** An error response of the storage. */
export class StorageRejection extends AppError {
  /** The error code of the service, such as `NoSuchUpload`; null if the response has none. */
  readonly serviceCode: string | null;
  /** True if the same request may succeed on a retry. */
  readonly isTransient: boolean;
  /** True if an expired signature would cause this response. */
  readonly mayBeExpired: boolean;
  /** The region of the bucket, if the storage names another region than the region of the request. */
  readonly bucketRegion: string | null;

  constructor(
    { code, isTransient }: Meaning,
    message: string,
    { serviceCode, status, region }: { serviceCode: string | null; status: number; region: string | null },
  ) {
    super(code, message);
    this.serviceCode = serviceCode;
    this.isTransient = isTransient;
    this.bucketRegion = region;
    this.mayBeExpired = EXPIRED_STATUSES.has(status);
  }
}

type Meaning = { readonly code: ErrorCode; readonly isTransient: boolean; readonly advice: string };

const denied = (advice: string): Meaning => ({ code: "storage_denied", isTransient: false, advice });
const TRANSIENT: Meaning = { code: "storage_unreachable", isTransient: true, advice: "try again later" };
/** The same request fails again, but a newly signed request may succeed. */
const renew = (advice: string): Meaning => ({ code: "storage_unreachable", isTransient: false, advice });
const NO_BUCKET: Meaning = {
  code: "storage_bucket_not_found",
  isTransient: false,
  advice: "the bucket does not exist; check its name and its region or endpoint",
};
const NO_ACCOUNT = denied("the account of the credentials is closed or has a problem");
const EXPIRED = renew("the signed request has expired and must be signed again");
const REJECTED = denied("check the settings of the storage");

/** By error code: of S3 (API reference, List of Error Codes), of compatible services, and of Azure. */
const MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  ["InvalidAccessKeyId", denied("the access key id does not exist; check the credentials and the service")],
  ["SignatureDoesNotMatch", denied("the secret does not match the access key id; check the credentials")],
  ["AuthenticationFailed", denied("the key does not match the account; check the credentials")],
  ["AccessDenied", denied("the credentials have no permission to write there; check their permissions")],
  ["AccountProblem", NO_ACCOUNT],
  ["AllAccessDisabled", NO_ACCOUNT],
  ["NotSignedUp", NO_ACCOUNT],
  ["AccessControlListNotSupported", denied("the bucket does not support ACLs; remove `storage.acl`")],
  ["InvalidStorageClass", denied("the storage class does not exist; check `storage.storage_class`")],
  ["NotImplemented", denied("it does not support the options in `storage`; remove `acl` and `storage_class`")],
  ["NoSuchBucket", NO_BUCKET],
  ["InvalidBucketName", NO_BUCKET],
  ["ContainerNotFound", NO_BUCKET],
  ["NoSuchUpload", renew("the upload was canceled and must be restarted")],
  ["InvalidPart", renew("a part of the upload is missing; the upload must be restarted")],
  ["InvalidBlockList", renew("the blocks of the upload are missing; the upload must be restarted")],
  ["ExpiredToken", denied("the session token expired before the upload ended; send a token that is valid for longer")],
  ["ExpiredRequest", EXPIRED],
  ["RequestTimeTooSkewed", renew("the clocks of the storage and of the signature differ too much")],
  ["IncompleteBody", TRANSIENT],
  ["OperationAborted", TRANSIENT],
  ["RequestTimeout", TRANSIENT],
]);

/** Codes for a bucket in another region. */
const ELSEWHERE = new Set([
  "PermanentRedirect",
  "TemporaryRedirect",
  "IllegalLocationConstraintException",
  "InvalidRegion",
  "InvalidRegionName",
]);
/** Codes that may mean a bucket in another region, if the response names the region. */
const MALFORMED = new Set(["AuthorizationHeaderMalformed", "AuthorizationQueryParametersError"]);

/** Interprets an error response. `region` is the region that the request was signed for; null if unknown. */
export function storageRejection(response: StorageResponse, region: string | null = null): StorageRejection {
  const serviceCode = /<Code>\s*([\w.-]{1,64})\s*<\/Code>/.exec(response.body)?.[1] ?? null;
  const meaning = elsewhere(response, serviceCode, region) ?? meaningOf(response, serviceCode);
  const status = serviceCode === null ? `HTTP ${response.status}` : `HTTP ${response.status}, ${serviceCode}`;
  return new StorageRejection(meaning, `The storage rejected the upload (${status}): ${meaning.advice}.`, {
    serviceCode,
    status: response.status,
    region: meaning.code === "storage_region_not_valid" ? bucketRegion(response) : null,
  });
}

/** True if the same request may succeed on a retry, according to the status alone. */
export const isTransientStatus = (status: number): boolean => status >= 500 || status === 408 || status === 429;

function meaningOf({ status, body }: StorageResponse, serviceCode: string | null): Meaning {
  // S3 has no separate code for an expired request.
  if (serviceCode === "AccessDenied" && /<Message>\s*Request has expired/.test(body)) return EXPIRED;
  const known = serviceCode === null ? undefined : MEANINGS.get(serviceCode);
  if (known) return known;
  if (status < 300 || isTransientStatus(status)) return TRANSIENT;
  if (status < 400) return denied("it redirects to another URL; use that URL in `storage.endpoint`");
  if (status === 401 || status === 403)
    return denied("check that the credentials are valid and have permission to write there");
  return status === 404 ? NO_BUCKET : REJECTED;
}

function elsewhere(response: StorageResponse, serviceCode: string | null, region: string | null): Meaning | null {
  const actual = bucketRegion(response);
  const { status } = response;
  const isNamed = actual !== null && (status < 400 || (status === 400 && actual !== region));
  const moved = serviceCode === null ? isNamed : ELSEWHERE.has(serviceCode);
  if (!moved && !(serviceCode !== null && MALFORMED.has(serviceCode) && actual !== null)) return null;
  const requested = region === null ? "" : `, not in ${region}`;
  const advice =
    actual === null
      ? "the bucket is in another region; check `storage.region` and `storage.endpoint`"
      : `the bucket is in ${actual}${requested}; set \`storage.region\` to ${actual}`;
  return { code: "storage_region_not_valid", isTransient: false, advice };
}

/** Returns the region in a response, from any of several places. */
function bucketRegion({ body, bucketRegion }: StorageResponse): string | null {
  const named =
    bucketRegion ??
    /<Region>([^<]*)</.exec(body)?.[1] ??
    /<Message>[^<]*expecting '([^'<]*)'/.exec(body)?.[1] ??
    /<Endpoint>[^<]*\bs3[.-]([\w-]{1,64})\.amazonaws\.com/.exec(body)?.[1] ??
    "";
  return /^[a-z0-9-]{1,64}$/i.test(named) ? named : null;
}
