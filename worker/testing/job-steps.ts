// Steps of a job, for tests of its decisions.

import { beforeAll } from "vitest";
import type { OutputReport } from "#shared/protocol/reports.ts";
import { claimTasks } from "../job/decide/leases.ts";
import { completeTask } from "../job/decide/reports.ts";
import type { JobState } from "../job/state/job-state.ts";
import type { MadeReport } from "../job/state/remaining-outputs.ts";
import { recordUpload } from "../job/uploads/sign-uploads.ts";
import { viewJob } from "../job/views/job-view.ts";
import type { JobSpec } from "../rpc/job-spec.ts";
import { checkedJob, newSpec, PROBE } from "./jobs.ts";

export const SOURCE_URL = "https://media.example.com/video.mp4";
export const NOW = 1_000_000;
/** The specification of `useSpec`. */
export let spec: JobSpec;

/** Gives the tests of a file a job with a video and two images. */
export function useSpec(): void {
  beforeAll(async () => {
    spec = await newSpec();
  });
}

/** A node's claim of a single task. */
export const claim = (
  state: JobState,
  token: string,
  now = NOW,
  nodeId = "node-a",
  slotClass: "inspect" | "encode" = "encode",
) =>
  claimTasks(
    state,
    {
      nodeId,
      session: `s-${nodeId}`,
      slotClass,
      max: 1,
      newToken: () => token,
      sourceUrl: SOURCE_URL,
      streamKeys: new Map(),
      chunking: null,
    },
    now,
  );

/** A job whose source was inspected. A node has claimed its encode task with the token `t2`. */
export function encoding(of: JobSpec = spec): JobState {
  const inspecting = claim(checkedJob(of), "t1", NOW, "node-a", "inspect").state;
  return claim(completeTask(inspecting, "inspect", { kind: "inspect", probe: PROBE }, NOW), "t2").state;
}

export const proof = (task: string, attempt: number, token: string) => ({
  lease: `${spec.id}.${task}.${attempt}` as never,
  token,
});
export const upload = (uploadId: string | null = null) => ({ sizeBytes: 5, partCount: 1, uploadId });
export const recordUploads = (
  state: JobState,
  task: string,
  uploads: Record<string, ReturnType<typeof upload>>,
): JobState =>
  Object.entries(uploads).reduce((next, [key, signed]) => {
    const [output, number] = key.split("/").map(Number);
    return recordUpload(next, task, { output: output ?? 0, file: number ?? 0 }, signed);
  }, state);
export const file = (output: number, file: number) => ({ output, file, sizeBytes: 5, etags: ['"e"'] });
export const madeVideo: MadeReport = { status: "made", output: 0, files: [file(0, 1)], probe: PROBE };
export const madeImages: MadeReport = { status: "made", output: 1, files: [file(1, 2), file(1, 1)], probe: null };
export const failed = (
  output: number,
  code: "encoding_failed" | "encoder_not_available" | "storage_denied",
): OutputReport => ({ status: "failed", output, failure: { code, message: "It broke" } });
export const UPLOADS = { "0/1": upload(), "1/1": upload(), "1/2": upload() };
export const statuses = (state: JobState) => viewJob(state).outputs.map(({ status }) => status);
