// Statuses of a job and of its input, with all allowed transitions (contract, "States and transitions").

export const JOB_STATUSES = ["job.starting", "job.completed", "job.failed", "job.aborted"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];
/** `retry` restarts the unfinished work of an ended job. */
export type JobMove = "complete" | "fail" | "abort" | "retry";

export const JOB_TABLE = {
  "job.starting": { complete: "job.completed", fail: "job.failed", abort: "job.aborted" },
  "job.completed": {},
  "job.failed": { retry: "job.starting" },
  "job.aborted": { retry: "job.starting" },
} as const satisfies Record<JobStatus, Partial<Record<JobMove, JobStatus>>>;

/** Work states of a job with the status `job.starting`. The contract has a single status for all of them. */
export const WORK_STATES = ["queued", "running", "storing"] as const;
export type WorkState = (typeof WORK_STATES)[number];

export const INPUT_STATUSES = ["input.starting", "input.transferring", "input.transferred", "input.failed"] as const;
export type InputStatus = (typeof INPUT_STATUSES)[number];
export type InputMove = "transfer" | "transferred" | "fail" | "retry";

export const INPUT_TABLE = {
  "input.starting": { transfer: "input.transferring", transferred: "input.transferred", fail: "input.failed" },
  "input.transferring": { transferred: "input.transferred", fail: "input.failed", retry: "input.starting" },
  // Encodes may read the source during its transfer, or from another node.
  "input.transferred": { fail: "input.failed", retry: "input.starting" },
  "input.failed": { retry: "input.starting" },
} as const satisfies Record<InputStatus, Partial<Record<InputMove, InputStatus>>>;

/** True if the job has ended. It can no longer complete, but a client may restart it. */
export const isTerminalJob = (status: JobStatus): boolean => moveJob(status, "complete") === null;

/** Returns the status after a move; null if the move is not allowed. */
export function moveJob(from: JobStatus, move: JobMove): JobStatus | null {
  const row: Partial<Record<JobMove, JobStatus>> = JOB_TABLE[from];
  return row[move] ?? null;
}

export function moveInput(from: InputStatus, move: InputMove): InputStatus | null {
  const row: Partial<Record<InputMove, InputStatus>> = INPUT_TABLE[from];
  return row[move] ?? null;
}
