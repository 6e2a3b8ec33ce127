// Facts about jobs and the account.
import type { InputPayload, Job, JobPayload, OutputPayload } from "./api.ts";

/** One task of a job, or one chunk of a video. */
export type TaskView = {
  id: string;
  kind: string;
  /** The keys of its outputs. */
  outputs: string[];
  status: "waiting" | "running" | "completed" | "failed";
  chunk?: { number: number; from_seconds: number; to_seconds: number } | undefined;
  attempt: number;
  node?: string | undefined;
  started_at?: string | undefined;
  ended_at?: string | undefined;
  stage?: string | undefined;
  /** 0 to 1. */
  progress: number;
  fps?: number | undefined;
  /** 2: twice as fast as the video plays. */
  speed?: number | undefined;
};

/** One ended attempt of a task. */
export type AttemptView = {
  task: string;
  attempt: number;
  node: string;
  started_at: string;
  ended_at: string;
  outcome: "completed" | "failed" | "lost" | "returned" | "superseded" | "cancelled";
  reason?: string | undefined;
};

export type JobTasks = {
  job_id: string;
  tasks: TaskView[];
  attempts: AttemptView[];
  attempts_dropped?: number | undefined;
};

export type CommandView = {
  task: string;
  attempt: number;
  node: string;
  argv: string[];
  started_at: string;
  seconds: number;
  exit_code: number | null;
  signal?: string | undefined;
  stderr_tail?: string | undefined;
};

export type JobCommands = { job_id: string; commands: CommandView[] };

/** The request of a job without its secrets. */
export type ShownRequest = {
  job_id: string;
  request: Record<string, unknown>;
  /** The fields that are left out, because they are secret. */
  left_out: string[];
};

export type ManyJobs = {
  jobs: { id: string; status?: string | undefined; error?: { error_code: string; message: string } | undefined }[];
  has_more: boolean;
};

export type UploadPart = { number: number; size: number; etag: string };

export type Upload = {
  id: string;
  name: string;
  size: number;
  /** Bytes of each part but the last. */
  part_size: number;
  status: string;
  parts: UploadPart[];
  expires_at: string;
};

export type UploadList = { uploads: Upload[] };

type OutputSeconds = { audio: number; sd: number; hd: number; uhd: number };

export type UsageDay = {
  jobs: Record<string, number>;
  output_seconds: OutputSeconds;
  node_seconds: number;
  stored_bytes: number;
};

export type Usage = { from: string; to: string; days: ({ day: string } & UsageDay)[]; total: UsageDay };

export type JobSummary = {
  id: string;
  status: Job["status"];
  progress: string;
  created_at: string;
  completed_at: string | null;
  outputs: { completed: number; failed: number; total: number };
};

/** The body of a notification, by its `event`. */
export type NotificationPayload = InputPayload | OutputPayload | JobPayload;

/** An event of the account; `id` continues a stream after it. */
export type AccountEvent =
  | { readonly id: string; readonly event: "job"; readonly data: JobSummary }
  | {
      readonly id: string;
      readonly event: "notification";
      /** `body` is what a webhook receives. */
      readonly data: { id: string; job_id: string; event: NotificationPayload["event"]; body: string };
    }
  /** Events were missed. */
  | { readonly id: string; readonly event: "gap"; readonly data: { missed: true } };

/** An event of a job's stream. */
export type JobEvent =
  | { readonly event: "job" | "end"; readonly data: Job }
  | { readonly event: "tasks"; readonly data: { tasks: TaskView[]; attempts: AttemptView[] } };

export type TestedEndpoint = {
  delivered: boolean;
  /** The HTTP status of the response; null if there was none. */
  status: number | null;
  error?: string | undefined;
  seconds: number;
};

export type NewWebhookSecret = { webhook_secret: string; previous_until: string };
