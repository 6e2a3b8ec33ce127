// /v2/admin.
import type { AnswerName } from "../components.ts";
import { ANSWER_EXAMPLES } from "../examples/answers.ts";
import { type Operation, pathParameter, type Success } from "../operation.ts";

const admin = { tag: "Administration", access: "operator" } as const;

const success = (status: number, description: string, json: AnswerName): Success => ({
  status,
  description,
  content: { json, example: ANSWER_EXAMPLES[json] },
});
const named = (summary: string, name: string) =>
  ({ json: "Named", examples: { named: { summary, value: { name } } } }) as const;

const ACCOUNT = pathParameter("id", "The account's id", ANSWER_EXAMPLES.NewAccount.account_id);
const credential = (what: string) => pathParameter("id", `The ${what}'s id`, ANSWER_EXAMPLES.Revoked.id);

export const ADMIN_OPERATIONS: readonly Operation[] = [
  {
    ...admin,
    method: "post",
    path: "/v2/admin/accounts",
    id: "createAccount",
    summary: "Create an account",
    body: named("An account", "me"),
    answers: [success(201, "The account with its first API key", "NewAccount")],
    codes: ["json_not_valid", "request_not_valid", "body_too_large"],
  },
  {
    ...admin,
    method: "get",
    path: "/v2/admin/accounts",
    id: "listAccounts",
    summary: "List accounts",
    answers: [success(200, "The accounts", "AccountList")],
    codes: [],
  },
  {
    ...admin,
    method: "post",
    path: "/v2/admin/accounts/:id/limits",
    id: "setAccountLimits",
    summary: "Set an account's limits",
    parameters: [ACCOUNT],
    body: { json: "Limits", examples: { limits: { summary: "A hundred", value: { max_unfinished_jobs: 100 } } } },
    answers: [success(200, "The limits", "AccountLimits")],
    codes: ["json_not_valid", "request_not_valid", "body_too_large", "account_not_found"],
  },
  {
    ...admin,
    method: "post",
    path: "/v2/admin/accounts/:id/rotate-secret",
    id: "rotateWebhookSecret",
    summary: "Change an account's webhook secret",
    description:
      "For 24 hours notifications carry a signature of the old one too. Rotated again meanwhile, only the last two.",
    parameters: [ACCOUNT],
    answers: [success(200, "The new secret", "RotatedSecret")],
    codes: ["account_not_found"],
  },
  {
    ...admin,
    method: "post",
    path: "/v2/admin/reseal",
    id: "reseal",
    summary: "Seal stored secrets with the newest key",
    description:
      "A part of accounts and jobs at a time: repeat it with `next_cursor` until that is null. Then keys that are no longer the " +
      "first of SEALING_KEYS seal nothing any more, but for what is in `failed`.",
    body: { json: "Reseal", examples: { first: { summary: "The first part", value: {} } } },
    answers: [success(200, "What was done", "Resealed")],
    codes: ["json_not_valid", "request_not_valid", "body_too_large"],
  },
  {
    ...admin,
    method: "post",
    path: "/v2/admin/accounts/:id/keys",
    id: "createKey",
    summary: "Create another API key of an account",
    parameters: [ACCOUNT],
    answers: [success(201, "The key", "NewKey")],
    codes: ["account_not_found"],
  },
  {
    ...admin,
    method: "get",
    path: "/v2/admin/accounts/:id/keys",
    id: "listKeys",
    summary: "List an account's API keys",
    parameters: [ACCOUNT],
    answers: [success(200, "The keys, without their secrets", "KeyList")],
    codes: ["account_not_found"],
  },
  {
    ...admin,
    method: "delete",
    path: "/v2/admin/keys/:id",
    id: "revokeKey",
    summary: "Revoke an API key",
    parameters: [credential("key")],
    answers: [success(200, "The key opens nothing any more", "Revoked")],
    codes: ["credential_not_found"],
  },
  {
    ...admin,
    method: "post",
    path: "/v2/admin/node-tokens",
    id: "createNodeToken",
    summary: "Create a node token",
    body: named("A token for one or more nodes", "rack"),
    answers: [success(201, "The token", "NewNodeToken")],
    codes: ["json_not_valid", "request_not_valid", "body_too_large"],
  },
  {
    ...admin,
    method: "get",
    path: "/v2/admin/node-tokens",
    id: "listNodeTokens",
    summary: "List node tokens",
    answers: [success(200, "The tokens, without their secrets", "NodeTokenList")],
    codes: [],
  },
  {
    ...admin,
    method: "delete",
    path: "/v2/admin/node-tokens/:id",
    id: "revokeNodeToken",
    summary: "Revoke a node token",
    parameters: [credential("token")],
    answers: [success(200, "The token opens nothing any more", "Revoked")],
    codes: ["credential_not_found"],
  },
];
