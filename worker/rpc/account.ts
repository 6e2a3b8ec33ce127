// The calls of an account's object.
import type { DurableObject } from "cloudflare:workers";
import type { JobEvent, NotificationEventData } from "#shared/api/account-responses.ts";
import type { UploadPayload } from "#shared/api/upload-links.ts";
import { inJurisdiction, type JurisdictionVariable } from "./jurisdiction.ts";

/**
 * Permission to send a delivery now, with the secrets that sign it (the newest first); else the time to request it
 * again.
 */
export type Admission =
  | { readonly go: true; readonly signWith: readonly string[] | null }
  | { readonly go: false; readonly at: number };

export type StartedJobs = { readonly started: number; readonly isListened: boolean };

/** An event for the stream of an account. The same event always has the same key. */
export type AccountEvent = { readonly key: string } & (
  | { readonly kind: "job"; readonly data: JobEvent }
  | { readonly kind: "notification"; readonly data: NotificationEventData }
  | { readonly kind: "upload"; readonly data: UploadPayload }
);

/** `fetch` opens a socket with the events of the account's jobs (worker/events). */
export interface AccountRpc extends DurableObject<unknown> {
  /**
   * Counts jobs while the account has fewer than `limit` unfinished jobs. Returns their number, at most `count`, and
   * whether somebody listens to the events of the account.
   */
  startJobs(limit: number, count: number): Promise<StartedJobs>;
  /** Counts a probe while the account has fewer than `limit` unfinished jobs and probes. Returns 1, else 0. */
  startProbe(id: string, limit: number): Promise<number>;
  /** Reports the end of a probe. */
  probeEnded(id: string): Promise<void>;
  /** Requests permission for a delivery to a receiver, and stores events of its job as `record` does. */
  admitDelivery(receiver: string, events?: readonly AccountEvent[]): Promise<Admission>;
  /** Reports the end of a delivery that was admitted. */
  deliveryEnded(receiver: string, wasDelivered: boolean): Promise<void>;
  /** Stores events of a job, in order. */
  record(events: readonly AccountEvent[]): Promise<void>;
  /** Stores the webhook of an upload link. The object sends it to the URL, and again until the receiver accepts it. */
  sendLater(message: { readonly id: string; readonly body: string }, url: string): Promise<void>;
  /**
   * Reports the number of a job's event streams. Returns false if the account's jobs have too many streams together.
   */
  follow(jobId: string, streams: number): Promise<boolean>;
  /** Drops the account's secrets from memory, because they have changed. */
  forgetSecrets(): Promise<void>;
}

export type AccountBinding = {
  /** The object of an account, shared by all its jobs. */
  ACCOUNT: DurableObjectNamespace<AccountRpc>;
} & JurisdictionVariable;

export const accountOf = (env: AccountBinding, id: string): DurableObjectStub<AccountRpc> =>
  inJurisdiction(env.ACCOUNT, env).getByName(`account:${id}`);
