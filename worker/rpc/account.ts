// The calls of an account's object.
import type { DurableObject } from "cloudflare:workers";

/** Whether a delivery may be sent now, signed with these secrets (the newest first), or when to request it again. */
export type Admission =
  | { readonly go: true; readonly signWith: readonly string[] | null }
  | { readonly go: false; readonly at: number };

export interface AccountRpc extends DurableObject<unknown> {
  /** Whether the account may have another job, with at most `limit` unfinished ones; true counts it. */
  admitJob(limit: number): Promise<boolean>;
  /** Requests permission for one delivery to a receiver. */
  admitDelivery(receiver: string): Promise<Admission>;
  /** An admitted delivery has ended. */
  deliveryEnded(receiver: string, wasDelivered: boolean): Promise<void>;
  /** The account's secrets have changed. */
  forgetSecrets(): Promise<void>;
}

export type AccountBinding = {
  /** One object per account, for what its jobs share. */
  ACCOUNT: DurableObjectNamespace<AccountRpc>;
};

export const accountOf = (env: AccountBinding, id: string): DurableObjectStub<AccountRpc> =>
  env.ACCOUNT.getByName(`account:${id}`);
