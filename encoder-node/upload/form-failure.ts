// What the refusal of a client's own upload address means, in words that hold no URL. Pure.
import { AppError, type ErrorCode } from "#shared/errors.ts";
import { isPassingStatus } from "#shared/network/storage-failure.ts";

/** A refusal as AppError. `status` is any HTTP status but success; redirects are none, they are not followed. */
export function formFailure(status: number): AppError {
  const [code, advice] = judge(status);
  return new AppError(code, `The upload address answered ${status}; ${advice}.`);
}

function judge(status: number): [ErrorCode, string] {
  if (status === 401 || status === 403) return ["storage_denied", "check the user and password in `storage.url`"];
  if (status === 404) return ["storage_url_not_found", "check the path in `storage.url`"];
  if (status === 413) return ["storage_denied", "it must take files of this size"];
  if (isPassingStatus(status)) return ["storage_unreachable", "try again later"];
  if (status >= 300 && status < 400) return ["storage_denied", "redirects are not followed"];
  return ["storage_denied", "it must take a POST of multipart/form-data"];
}
