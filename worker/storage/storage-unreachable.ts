// A storage that gave no answer to a request of the Worker's own.
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { type NoAnswer, type StoragePlace, storageUnreachable } from "#shared/network/storage-connection.ts";
import { isNoAnswerInTime } from "../fetch-within.ts";

/** `storage_unreachable` without any answer; `why` as far as the runtime says. */
export class StorageSilence extends AppError {
  readonly why: NoAnswer;

  constructor(url: string, cause: unknown, place: StoragePlace = "bucket") {
    const why = whyOf(cause);
    super("storage_unreachable", storageUnreachable(url, why, place).message, { cause });
    this.why = why;
  }
}

/**
 * workerd says little of what went wrong: a connection that was refused or broke is `Network connection lost.`, unless it
 * is an `internal error`, as are a name that leads nowhere and a certificate that is not valid.
 */
function whyOf(error: unknown): NoAnswer {
  if (isNoAnswerInTime(error)) return "timeout";
  return messageOf(error).startsWith("Network connection lost") ? "refused" : "no connection";
}
