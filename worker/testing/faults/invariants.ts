// The invariants of an ended job, whatever fault was injected.
import { env } from "cloudflare:workers";
import { expect, inject } from "vitest";
import type { JobId } from "#shared/ids.ts";
import { runnableTasks } from "../../job/decide/leases.ts";
import type { JobState } from "../../job/state/job-state.ts";
import type { TaskState } from "../../job/state/task-state.ts";
import { fileToStore, requiredFiles } from "../../job/uploads/job-files.ts";
import { settingsOf } from "../../settings.ts";
import { publicUrlOf } from "../../storage/open-store.ts";
import { type S3Client, sendS3 } from "../../storage/s3/s3-requests.ts";
import { SCRATCH_FOLDER } from "../../storage/s3/scratch.ts";
import { isUploadGone } from "../../storage/storage-errors.ts";
import { direct } from "./fault-points.ts";
import type { Run } from "./run-job.ts";
import { contentByteOf } from "./scripted-tasks.ts";

const signer = (): S3Client => {
  const { accessKeyId, secretAccessKey } = inject("s3");
  return { region: "us-east-1", keys: { accessKeyId, secretAccessKey }, allow: null };
};

/** The parts of a run that a fault must not change. */
export const lasting = ({ state, view }: Run) => ({ view, events: state.outbox.map(({ event }) => event) });

/** Throws when an invariant is violated. */
export async function checkInvariants(run: Run): Promise<void> {
  const { state, wire, jobId, heard } = run;
  if (heard) {
    const statuses = ["job.starting", state.status];
    expect(heard).toEqual({ statuses, notifications: state.outbox.map(({ id }) => id), hasGap: false });
  }
  expect(new Set(state.outbox.map(({ id }) => id)).size).toBe(state.outbox.length);
  for (const { id, body, state: delivery } of state.outbox) {
    expect([delivery, ...new Set(wire.taken.filter((taken) => taken.id === id).map((taken) => taken.body))]).toEqual([
      "delivered",
      body,
    ]);
  }
  expect(state.tasks.filter(({ phase }) => phase === "leased" || phase === "completing")).toEqual([]);
  expect([...runnableTasks(state, "inspect"), ...runnableTasks(state, "encode")]).toEqual([]);
  expect({ orphans: state.orphans, revoked: state.revoked }).toEqual({ orphans: [], revoked: [] });
  expect(state.scratch).toMatchObject({ isUsed: false, leftovers: [] });
  expect(state.indexedVersion).toBe(state.version);
  expect(await scratchKeys(jobId as JobId)).toEqual([]);
  for (const { url, isKnown } of wire.uploads) {
    // If the object died right after it started an upload, only the bucket's lifecycle rules remove the upload.
    const isUnknown = !isKnown && wire.faultyCall?.kind.includes("dies");
    expect(isUnknown || (await isGone(url)), `The upload ${url} was not removed`).toBe(true);
  }
  for (const task of state.tasks) await inspectObjects(state, task);
}

/** Keys below a job's folder of the scratch bucket. */
async function scratchKeys(jobId: JobId): Promise<string[]> {
  const settings = settingsOf(env).scratch;
  if (!settings) throw new Error("The scratch bucket is not configured");
  const { bucket, keys } = settings;
  const query = new URLSearchParams({ prefix: `${SCRATCH_FOLDER}/${jobId}/` });
  const xml = await sendS3(
    { region: bucket.region, keys, allow: null },
    `${bucket.endpoint}/${bucket.bucket}?${query}`,
    {},
  );
  return [...xml.matchAll(/<Key>([^<]*)</g)].map(([, key = ""]) => key);
}

/** True if a multipart upload no longer exists: the storage accepts no part for it. */
async function isGone(upload: string): Promise<boolean> {
  try {
    await sendS3(signer(), `${upload}&partNumber=99`, { method: "PUT", body: "late" });
    return false;
  } catch (error) {
    return isUploadGone(error);
  }
}

/**
 * Checks that the objects of finished outputs are complete and all from one lease: the lease that reported them, which
 * is not always the last lease.
 */
async function inspectObjects(state: JobState, task: TaskState): Promise<void> {
  if (task.phase !== "done" || (task.kind !== "encode" && task.kind !== "join")) return;
  const attempts = Array.from({ length: task.attempt }, (_, at) => at + 1);
  const contentBytes = attempts.map((attempt) => contentByteOf(`${state.spec.id}.${task.id}.${attempt}`));
  for (const output of task.outputs.filter((index) => state.outputs[index]?.phase === "done")) {
    const spec = state.spec.outputs[output];
    for (const [at, file] of (spec ? requiredFiles(spec, state.outputs[output]) : []).entries()) {
      const sizeBytes = state.outputs[output]?.files[at]?.sizeBytes ?? 0;
      const { objectName } = fileToStore(state, { output, file, sizeBytes });
      const bytes = await (await direct.fetch(publicUrlOf(state.spec, objectName))).bytes();
      expect([objectName, bytes.length, bytes.at(-1)]).toEqual([objectName, sizeBytes, bytes[0]]);
      expect(contentBytes).toContain(bytes[0]);
    }
  }
}
