// Schemas of responses to the operator: accounts, keys and tokens. node-responses.ts has the schemas for nodes.
import * as z from "zod";
import { ContractDate } from "../job/job-view.ts";
import { NAMED } from "../named-schemas.ts";

export const NewAccount = z
  .object({
    account_id: z.string(),
    api_key: z.string().describe("Returned only once"),
    webhook_secret: z.string().describe("Verifies the notifications of the account; returned only once"),
  })
  .describe("A new account with its first API key")
  .register(NAMED, { id: "NewAccount" });
export type NewAccount = z.infer<typeof NewAccount>;

const limits = {
  max_unfinished_jobs: z.int().nullable().describe("The limit of the account; null: the limit of the service"),
  max_running: z.int().nullable().describe("Maximum tasks that run at a time; null: no limit"),
  max_priority: z.int().nullable().describe("Priorities up to this one count beside other accounts; null: none does"),
  weight: z.int().describe("The share in the nodes while other accounts wait"),
};

export const AccountList = z
  .object({ accounts: z.array(z.object({ id: z.string(), name: z.string(), created_at: ContractDate, ...limits })) })
  .describe("All accounts, oldest first")
  .register(NAMED, { id: "AccountList" });
export type AccountList = z.infer<typeof AccountList>;

export const AccountLimits = z
  .object({ account_id: z.string(), ...limits })
  .describe("The limits of an account")
  .register(NAMED, { id: "AccountLimits" });
export type AccountLimits = z.infer<typeof AccountLimits>;

export const RotatedSecret = z
  .object({
    account_id: z.string(),
    webhook_secret: z.string().describe("The new secret; returned only once"),
    previous_until: ContractDate.describe("Until then, notifications have signatures with both secrets"),
  })
  .describe("The new webhook secret of an account")
  .register(NAMED, { id: "RotatedSecret" });
export type RotatedSecret = z.infer<typeof RotatedSecret>;

export const Resealed = z
  .object({
    resealed: z.int().describe("Number of secrets that were encrypted with an older key"),
    failed: z
      .array(z.object({ id: z.string(), message: z.string() }))
      .describe("Accounts or jobs that could not be processed"),
    next_cursor: z.string().nullable().describe("The `cursor` of the next request; null when all secrets are done"),
  })
  .describe("The result for some accounts and jobs")
  .register(NAMED, { id: "Resealed" });
export type Resealed = z.infer<typeof Resealed>;

const credentialView = {
  id: z.string().describe("12 hexadecimal digits"),
  created_at: ContractDate,
  revoked_at: ContractDate.nullable().describe("Null while it is valid"),
};

const keyView = {
  name: z.string().describe("The name from its creation; empty: none"),
  last_used_at: ContractDate.nullable().describe("Up to an hour before its last use; null: never used"),
  scopes: z.array(z.string()).nullable().describe("The only requests that the key may send; null: all requests"),
  expires_at: ContractDate.nullable().describe("The end of its validity; null: it does not expire"),
};

export const NewKey = z
  .object({ id: credentialView.id, api_key: z.string().describe("Returned only once"), ...keyView })
  .describe("A new API key")
  .register(NAMED, { id: "NewKey" });
export type NewKey = z.infer<typeof NewKey>;

export const KeyList = z
  .object({ keys: z.array(z.object({ ...credentialView, ...keyView })) })
  .describe("The API keys of an account")
  .register(NAMED, { id: "KeyList" });
export type KeyList = z.infer<typeof KeyList>;

const tokenPlacement = {
  pool: z.string().describe("The only pool of its nodes"),
  labels: z.array(z.string()).describe("Labels of all its nodes"),
};

export const NewNodeToken = z
  .object({ id: credentialView.id, node_token: z.string().describe("Returned only once"), ...tokenPlacement })
  .describe("A new node token")
  .register(NAMED, { id: "NewNodeToken" });
export type NewNodeToken = z.infer<typeof NewNodeToken>;

export const NodeTokenList = z
  .object({ node_tokens: z.array(z.object({ ...credentialView, name: z.string(), ...tokenPlacement })) })
  .describe("All node tokens")
  .register(NAMED, { id: "NodeTokenList" });
export type NodeTokenList = z.infer<typeof NodeTokenList>;

export const Revoked = z
  .object({ id: credentialView.id, revoked: z.literal(true) })
  .describe("The credential is revoked")
  .register(NAMED, { id: "Revoked" });
export type Revoked = z.infer<typeof Revoked>;
