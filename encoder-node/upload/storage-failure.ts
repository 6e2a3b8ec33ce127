// What a storage service's refusal means, in words that hold neither URL nor signature. Pure.
import { AppError, type ErrorCode } from "#shared/errors.ts";

/** The error code of an S3 answer (`<Error><Code>AccessDenied</Code>…`); null when the body holds none. */
export function storageErrorCode(body: string): string | null {
  return /<Code>\s*(\w{1,64})\s*<\/Code>/.exec(body)?.[1] ?? null;
}

/** Whether the same request may succeed when it is sent again. */
export const isPassing = (status: number): boolean => status >= 500 || status === 429 || status === 408;

/** A refusal as AppError. `status` is any HTTP status but success. */
export function storageFailure(status: number, s3Code: string | null): AppError {
  const [code, advice] = judge(status, s3Code);
  const said = s3Code === null ? `HTTP ${status}` : `HTTP ${status}, ${s3Code}`;
  return new AppError(code, `The storage refused the upload (${said}); ${advice}.`);
}

/** A storage at an address that must not be reached. */
export const storageAddressRefusal = (host: string): AppError =>
  new AppError(
    "storage_address_not_allowed",
    `The storage's host \`${host}\` is not a public address; the storage must be reachable over the Internet.`,
  );

function judge(status: number, s3Code: string | null): [ErrorCode, string] {
  // An upload that was given up meanwhile, not a missing bucket: a fresh one may succeed.
  if (s3Code === "NoSuchUpload") return ["storage_unreachable", "the upload had been given up and must begin again"];
  if (status === 401 || status === 403) {
    return ["storage_denied", "check that the credentials are valid and may write to this bucket"];
  }
  if (status === 404) return ["storage_bucket_not_found", "check the bucket's name and its region or endpoint"];
  return ["storage_unreachable", "check the storage's settings, or try again later"];
}
