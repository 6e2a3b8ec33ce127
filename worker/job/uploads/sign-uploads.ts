// Signed uploads for the files of a grant: where each goes, in which parts.
import { AppError } from "#shared/errors.ts";
import type { LeaseProof, UploadsRequest, UploadTicket } from "#shared/protocol/protocol.ts";
import type { FileToStore, ObjectStore } from "../../storage/object-store.ts";
import { judge } from "../decide/leases.ts";
import { owedOutputs } from "../decide/remaining-outputs.ts";
import { recordUpload } from "../decide/reports.ts";
import type { GrantedUpload, JobState } from "../state/job-state.ts";
import { fileToStore, isFileOf, isRecorded, uploadKey } from "./job-files.ts";

/** The job's state as it is by now, and where to put what changes it. */
export interface GrantDeps {
  state(): JobState;
  save(state: JobState): void;
}

type FileToGrant = UploadsRequest["files"][number];
/** A file and the object that it is to become. */
type Target = {
  readonly file: FileToGrant;
  readonly stored: FileToStore;
  /**
   * `parts`: on record as soon as its id is known, and from then on completed or aborted whatever happens; one whose id is
   * lost on its way is left to the bucket's lifecycle rules (docs/storage.md). `whole`: on record, and one request stores
   * it. `unrecorded`: one request stores it, and nobody needs to know.
   */
  readonly way: "parts" | "whole" | "unrecorded";
};

/**
 * Signs the uploads of the files asked for, or answers null when the lease is no longer good. Of two uploads that were
 * begun for one file by requests that crossed, the first on record counts. Throws AppError(report_not_valid | storage_*).
 */
export async function grantUploads(
  store: ObjectStore,
  proof: LeaseProof,
  files: readonly FileToGrant[],
  deps: GrantDeps,
): Promise<UploadTicket[] | null> {
  const state = deps.state();
  if (judge(state, proof).verdict !== "current") return null;
  const begun: { target: Target; uploadId: string | null }[] = [];
  for (const target of files.map((file) => targetOf(state, proof, file))) {
    const upload = target.way === "unrecorded" ? { uploadId: null } : await grantUpload(store, proof, target, deps);
    if (!upload) return null;
    begun.push({ target, uploadId: upload.uploadId });
  }
  const tickets = begun.map(async ({ target, uploadId }) => {
    const { output, file } = target.file;
    return { output, file, parts: await store.sign(target.stored, uploadId, { lease: proof.lease, output }) };
  });
  return Promise.all(tickets);
}

function targetOf(state: JobState, proof: LeaseProof, file: FileToGrant): Target {
  const spec = state.spec.outputs[file.output];
  const { task } = judge(state, proof);
  const isOwn = task && owedOutputs(state, task).includes(file.output);
  if (!spec || !isOwn || !isFileOf(spec, file.file, state.input.probe, proof.lease)) {
    throw new AppError("report_not_valid", `The task has no file ${uploadKey(file)}`);
  }
  const way = isRecorded(spec, file.file) ? (spec.type === "httpstream" ? "whole" : "parts") : "unrecorded";
  return { file, stored: fileToStore(state, file), way };
}

/** The upload of one file, on record; null when the lease is no longer good. */
async function grantUpload(
  store: ObjectStore,
  proof: LeaseProof,
  { file, stored, way }: Target,
  deps: GrantDeps,
): Promise<GrantedUpload | null> {
  const granted = (): GrantedUpload | undefined => {
    const upload = judge(deps.state(), proof).task?.uploads[uploadKey(file)];
    return upload?.sizeBytes === file.sizeBytes ? upload : undefined;
  };
  const known = granted();
  if (known) return known;
  const uploadId = way === "parts" ? await store.begin(stored) : null;
  const state = deps.state();
  const { verdict, task } = judge(state, proof);
  const first = granted();
  if (verdict === "current" && task && !first) {
    const partCount = uploadId === null ? 1 : store.partSizes(file.sizeBytes).length;
    const upload = { sizeBytes: file.sizeBytes, partCount, uploadId };
    deps.save(recordUpload(state, task.id, file, upload));
    return upload;
  }
  const { objectName } = stored;
  if (uploadId !== null) deps.save({ ...state, orphans: [...state.orphans, { objectName, uploadId }] });
  return verdict === "current" && first ? first : null;
}
