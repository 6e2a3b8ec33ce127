// Unions of the types of the API, and types that the API does not name.
import type {
  GapEvent,
  InputPayload,
  Job,
  JobEvent,
  JobPayload,
  NotificationEventData,
  OutputPayload,
  TaskChanges,
} from "./api.ts";

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

/** The body of a notification, by its `event`. */
export type NotificationPayload = InputPayload | OutputPayload | JobPayload;

/** An event of the account; a stream continues after the one with an `id`. */
export type AccountEvent =
  | { readonly id: string; readonly event: "job"; readonly data: JobEvent }
  | { readonly id: string; readonly event: "notification"; readonly data: NotificationEventData }
  | { readonly id: string; readonly event: "gap"; readonly data: GapEvent };

/** An event of the stream of a job. */
export type JobStreamEvent =
  | { readonly event: "job" | "end"; readonly data: Job }
  | { readonly event: "tasks"; readonly data: TaskChanges };

export type TestedEndpoint = {
  delivered: boolean;
  /** The HTTP status of the response; null if there was none. */
  status: number | null;
  error?: string | undefined;
  seconds: number;
};

export type NewWebhookSecret = { webhook_secret: string; previous_until: string };
