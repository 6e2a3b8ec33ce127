// What a storage service's refusal means, in words that hold no URL, no signature and no key. Pure.
import { AppError, type ErrorCode } from "../errors.ts";

export type StorageAnswer = {
  /** Any HTTP status; below 300 only where the body tells of a failure after all. */
  readonly status: number;
  /** The beginning of the body: an `<Error>` document with a `<Code>`, of S3 and Azure alike, or anything else. */
  readonly body: string;
  /** The header `x-amz-bucket-region`, by which S3 says where a bucket lies. */
  readonly bucketRegion?: string | null;
};

/** Each storage has words of its own for it: S3 and Azure answer 403, Google Cloud and S3 with session tokens 400. */
const EXPIRED_STATUSES = new Set([400, 401, 403]);

/** A refusal by the storage itself. */
export class StorageRefusal extends AppError {
  /** The service's own code, such as `NoSuchUpload`; null when its answer held none. */
  readonly said: string | null;
  /** Whether the same request may succeed when it is sent again. */
  readonly passing: boolean;
  /** Whether a signature that was good once would be refused like this when it is too old. */
  readonly mayBeExpired: boolean;

  constructor({ code, passing }: Meaning, message: string, { said, status }: { said: string | null; status: number }) {
    super(code, message);
    this.said = said;
    this.passing = passing;
    this.mayBeExpired = EXPIRED_STATUSES.has(status);
  }
}

type Meaning = { readonly code: ErrorCode; readonly passing: boolean; readonly advice: string };

const denied = (advice: string): Meaning => ({ code: "storage_denied", passing: false, advice });
const PASSING: Meaning = { code: "storage_unreachable", passing: true, advice: "try again later" };
/** The same request fails again, a fresh one may not. */
const renew = (advice: string): Meaning => ({ code: "storage_unreachable", passing: false, advice });
const NO_BUCKET: Meaning = {
  code: "storage_bucket_not_found",
  passing: false,
  advice: "there is no such bucket; check its name and its region or endpoint",
};
const NO_ACCOUNT = denied("the account behind the credentials is closed or not in order");
const EXPIRED = renew("the signed request had expired and must be made anew");
const REFUSED = denied("check the storage's settings");

/** By the service's code: of S3 (API reference, List of Error Codes), of what copies it, and of Azure. */
const MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  ["InvalidAccessKeyId", denied("it does not know the access key id; check the credentials and the service")],
  ["SignatureDoesNotMatch", denied("the secret does not belong to the access key id; check the credentials")],
  ["AuthenticationFailed", denied("the key does not belong to the account; check the credentials")],
  ["AccessDenied", denied("these credentials may not write there; check their permissions")],
  ["AccountProblem", NO_ACCOUNT],
  ["AllAccessDisabled", NO_ACCOUNT],
  ["NotSignedUp", NO_ACCOUNT],
  ["AccessControlListNotSupported", denied("the bucket takes no ACLs; leave `storage.acl` out")],
  ["InvalidStorageClass", denied("it has no such storage class; check `storage.storage_class`")],
  ["NotImplemented", denied("it cannot do what `storage` asks for; leave `acl` and `storage_class` out")],
  ["NoSuchBucket", NO_BUCKET],
  ["InvalidBucketName", NO_BUCKET],
  ["ContainerNotFound", NO_BUCKET],
  ["NoSuchUpload", renew("the upload had been given up and must begin again")],
  ["InvalidPart", renew("a part of the upload is gone, it must begin again")],
  ["InvalidBlockList", renew("the blocks of the upload are gone, it must begin again")],
  ["ExpiredToken", EXPIRED],
  ["ExpiredRequest", EXPIRED],
  ["RequestTimeTooSkewed", renew("its clock and that of the signature are too far apart")],
  ["IncompleteBody", PASSING],
  ["OperationAborted", PASSING],
  ["RequestTimeout", PASSING],
]);

/** Codes by which a service says that the bucket lies elsewhere. */
const ELSEWHERE = new Set([
  "PermanentRedirect",
  "TemporaryRedirect",
  "IllegalLocationConstraintException",
  "InvalidRegion",
  "InvalidRegionName",
]);
/** Codes that may say so too: then the answer names the region. */
const MALFORMED = new Set(["AuthorizationHeaderMalformed", "AuthorizationQueryParametersError"]);

/** Reads a refusal. `region` is the one that the request was signed for, null where it is not known. */
export function storageRefusal(answer: StorageAnswer, region: string | null = null): StorageRefusal {
  const said = /<Code>\s*([\w.-]{1,64})\s*<\/Code>/.exec(answer.body)?.[1] ?? null;
  const meaning = elsewhere(answer, said, region) ?? meaningOf(answer, said);
  const shown = said === null ? `HTTP ${answer.status}` : `HTTP ${answer.status}, ${said}`;
  return new StorageRefusal(meaning, `The storage refused the upload (${shown}): ${meaning.advice}.`, {
    said,
    status: answer.status,
  });
}

/** Whether the same request may succeed when it is sent again, by the status alone. */
export const isPassingStatus = (status: number): boolean => status >= 500 || status === 408 || status === 429;

function meaningOf({ status, body }: StorageAnswer, said: string | null): Meaning {
  // S3 has no code of its own for it.
  if (said === "AccessDenied" && /<Message>\s*Request has expired/.test(body)) return EXPIRED;
  const known = said === null ? undefined : MEANINGS.get(said);
  if (known) return known;
  if (status < 300 || isPassingStatus(status)) return PASSING;
  if (status < 400) return denied("it redirects to another address; name that in `storage.endpoint`");
  if (status === 401 || status === 403) return denied("check that the credentials are valid and may write there");
  return status === 404 ? NO_BUCKET : REFUSED;
}

function elsewhere(answer: StorageAnswer, said: string | null, region: string | null): Meaning | null {
  const lies = bucketRegion(answer);
  const moved = said === null ? answer.status < 400 && lies !== null : ELSEWHERE.has(said);
  if (!moved && !(said !== null && MALFORMED.has(said) && lies !== null)) return null;
  const asked = region === null ? "" : `, the job says ${region}`;
  const advice =
    lies === null
      ? "the bucket lies in another region; check `storage.region` and `storage.endpoint`"
      : `the bucket lies in ${lies}${asked}; set \`storage.region\` to ${lies}`;
  return { code: "storage_region_not_valid", passing: false, advice };
}

/** The region that an answer names, wherever in it. */
function bucketRegion({ body, bucketRegion }: StorageAnswer): string | null {
  const named =
    bucketRegion ??
    /<Region>([^<]*)</.exec(body)?.[1] ??
    /<Message>[^<]*expecting '([^'<]*)'/.exec(body)?.[1] ??
    /<Endpoint>[^<]*\bs3[.-]([\w-]+)\.amazonaws\.com/.exec(body)?.[1] ??
    "";
  return /^[a-z0-9-]{1,64}$/i.test(named) ? named : null;
}
