// Unions of the API's types, and types that the API does not name.
import type {
  Attempt,
  GapEvent,
  InputPayload,
  Job,
  JobEvent,
  JobPayload,
  NotificationEvent,
  OutputPayload,
  Task,
  TaskChanges,
  UploadPayload,
} from "./api.ts";

/** The body of a notification, by its `event`. */
export type NotificationPayload = InputPayload | OutputPayload | JobPayload;

/** An event of the account. A stream can continue after an event with an `id`. */
export type AccountEvent =
  | { readonly id: string; readonly event: "job"; readonly data: JobEvent }
  | { readonly id: string; readonly event: "notification"; readonly data: NotificationEvent }
  | { readonly id: string; readonly event: "upload"; readonly data: UploadPayload }
  | { readonly id: string; readonly event: "gap"; readonly data: GapEvent };

/** A page of the audit. `object`: such as `jobs/3clA7G2GY8bXR5`, or `jobs` for all. */
export type AuditQuery = {
  readonly [name in "actor" | "action" | "object" | "limit" | "cursor"]?: string | number | undefined;
};

/** An event of the stream of a job. */
export type JobStreamEvent =
  | { readonly event: "job" | "end"; readonly data: Job }
  | { readonly event: "tasks"; readonly data: TaskChanges };

export type { Attempt as AttemptView, Task as TaskView };
