// Has one upload signed anew.
import { AppError } from "#shared/errors.ts";
import type { UploadsAnswer, UploadsRequest, UploadTicket } from "#shared/protocol/protocol.ts";

type Ask = (files: UploadsRequest["files"]) => Promise<UploadsAnswer>;

/** Throws AppError with the control plane's reason when it signs none, and what `ask` throws. */
export async function askTicket(file: UploadsRequest["files"][number], ask: Ask): Promise<UploadTicket> {
  const answer = await ask([file]);
  if ("failure" in answer) throw new AppError(answer.failure.code, answer.failure.message);
  const [ticket] = answer.uploads;
  if (!ticket) throw new AppError("storage_unreachable", "The control plane signed no upload for a file");
  return ticket;
}
