// Multipart uploads that start before their file is complete. The size is recorded when a request first states it.
import { AppError } from "#shared/errors.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import { MAX_EARLY_PARTS, type UploadsRequest } from "#shared/protocol/uploads.ts";
import { earlyPlaces, type PartPlace } from "../../storage/upload-limits.ts";
import { checkLease } from "../state/check-lease.ts";
import { patchTask } from "../state/job-moves.ts";
import type { JobState } from "../state/job-state.ts";
import { type SignedUpload, uploadKey } from "../state/task-state.ts";

type RequestedFile = UploadsRequest["files"][number];

/** Images are complete at once, and the files of streams are small. */
export const mayBeginEarly = ({ type }: OutputSpec): boolean => type === "video";

/**
 * The recorded upload that a request continues. An upload for a file of another size, or by other parts, starts again:
 * a node that gives up an early upload requests an upload of the whole file.
 */
export function recordedUpload(state: JobState, proof: LeaseProof, file: RequestedFile): SignedUpload | null {
  const upload = checkLease(state, proof).task?.uploads[uploadKey(file)];
  if (!upload) return null;
  const isInParts = upload.partBytes !== undefined;
  if (isInParts && !file.early) return null;
  // A stated size is final: it determined the signed parts.
  const isOpen = isInParts && upload.sizeBytes === 0;
  return isOpen || upload.sizeBytes === file.sizeBytes ? upload : null;
}

/** Records the size of the file of an open upload. */
export function withSize(state: JobState, proof: LeaseProof, file: RequestedFile): JobState {
  const { task, verdict } = checkLease(state, proof);
  const upload = recordedUpload(state, proof, file);
  const { partBytes, sizeBytes } = upload ?? {};
  if (!task || verdict !== "current" || !upload || partBytes === undefined || sizeBytes === file.sizeBytes)
    return state;
  const sized = { ...upload, sizeBytes: file.sizeBytes, partCount: Math.ceil(file.sizeBytes / partBytes) };
  return patchTask(state, task.id, { uploads: { ...task.uploads, [uploadKey(file)]: sized } });
}

/** The requested parts of an open upload. Throws AppError(report_not_valid) for parts that the file does not have. */
export function requestedPlaces(partBytes: number, file: RequestedFile): PartPlace[] {
  const places = earlyPlaces(partBytes, file.sizeBytes, file.early?.parts ?? []);
  if (places && file.sizeBytes <= MAX_EARLY_PARTS * partBytes) return places;
  throw new AppError("report_not_valid", `The upload of ${uploadKey(file)} has no such parts of ${partBytes} bytes`);
}
