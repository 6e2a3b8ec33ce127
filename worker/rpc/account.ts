// The calls of an account's object.
import type { DurableObject } from "cloudflare:workers";
import type { JobEvent, NotificationEventData } from "#shared/api/account-responses.ts";

/** True if a delivery may be sent now, signed with these secrets (the newest first), or when to request it again. */
export type Admission =
  | { readonly go: true; readonly signWith: readonly string[] | null }
  | { readonly go: false; readonly at: number };

/** An event of a job for the stream of its account; the same event has the same key. */
export type AccountEvent = { readonly key: string } & (
  | { readonly kind: "job"; readonly data: JobEvent }
  | { readonly kind: "notification"; readonly data: NotificationEventData }
);

/** Its `fetch` opens a socket with the events of the account's jobs (worker/events). */
export interface AccountRpc extends DurableObject<unknown> {
  /** True if the account may have another job, with at most `limit` unfinished ones; if so, it is counted. */
  startJob(limit: number): Promise<boolean>;
  /** Requests permission for one delivery to a receiver. */
  admitDelivery(receiver: string): Promise<Admission>;
  /** An admitted delivery has ended. */
  deliveryEnded(receiver: string, wasDelivered: boolean): Promise<void>;
  /** Takes events of a job, in order. */
  record(events: readonly AccountEvent[]): Promise<void>;
  /** A job has so many event streams now; false: with those of the account's other jobs there are too many. */
  follow(jobId: string, streams: number): Promise<boolean>;
  /** The account's secrets have changed. */
  forgetSecrets(): Promise<void>;
}

export type AccountBinding = {
  /** One object per account, for what its jobs share. */
  ACCOUNT: DurableObjectNamespace<AccountRpc>;
};

export const accountOf = (env: AccountBinding, id: string): DurableObjectStub<AccountRpc> =>
  env.ACCOUNT.getByName(`account:${id}`);
