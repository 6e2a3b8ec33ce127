// /v2/admin.
import { AuditList } from "#shared/api/audit.ts";
import { KeyBody, LimitsBody, NamedBody, NodeTokenBody, ResealBody } from "#shared/api/operator-requests.ts";
import {
  AccountLimits,
  AccountList,
  KeyList,
  NewAccount,
  NewKey,
  NewNodeToken,
  NodeTokenList,
  Resealed,
  Revoked,
  RotatedSecret,
} from "#shared/api/operator-responses.ts";
import { RESPONSE_EXAMPLES } from "../operation/examples/responses.ts";
import { operations, pathParameter, queryParameters, success } from "../operation/operation.ts";
import { AuditParameters } from "../query/upload-query.ts";

const named = (summary: string, name: string) =>
  ({ json: NamedBody, examples: { named: { summary, value: { name } } } }) as const;

const ACCOUNT = pathParameter("id", "The id of the account", RESPONSE_EXAMPLES.NewAccount.account_id);
const credential = (what: string) => pathParameter("id", `The id of the ${what}`, RESPONSE_EXAMPLES.Revoked.id);

export const ADMIN_OPERATIONS = operations({ tag: "Administration", access: "operator", path: [ACCOUNT] })({
  listAllAudit: {
    route: "GET /v2/admin/audit",
    summary: "List changes in all accounts and of the service",
    description: "For created jobs, read `GET /v2/audit` with the header `Copra-Account`.",
    parameters: queryParameters(AuditParameters),
    responses: [success(200, "A page of the audit", AuditList)],
  },
  createAccount: {
    route: "POST /v2/admin/accounts",
    summary: "Create an account",
    body: named("An account", "me"),
    responses: [success(201, "The account and its first API key", NewAccount)],
  },
  listAccounts: {
    route: "GET /v2/admin/accounts",
    summary: "List accounts",
    responses: [success(200, "The accounts", AccountList)],
  },
  setAccountLimits: {
    route: "POST /v2/admin/accounts/:id/limits",
    summary: "Set the limits of an account",
    body: {
      json: LimitsBody,
      examples: {
        limits: { summary: "A limit of 100 jobs", value: { max_unfinished_jobs: 100 } },
        shares: { summary: "Twice the usual share, at most 8 tasks at a time", value: { weight: 2, max_running: 8 } },
      },
    },
    responses: [success(200, "The limits", AccountLimits)],
    codes: ["account_not_found"],
  },
  rotateWebhookSecret: {
    route: "POST /v2/admin/accounts/:id/rotate-secret",
    summary: "Rotate the webhook secret of an account",
    description:
      "For 24 hours, notifications also have a signature with the previous secret. After another rotation within this time, " +
      "they have signatures with the last two secrets.",
    responses: [success(200, "The new secret", RotatedSecret)],
    codes: ["account_not_found", "account_state_conflict"],
  },
  reseal: {
    route: "POST /v2/admin/reseal",
    summary: "Encrypt stored secrets with the newest key",
    description:
      "Each request processes some accounts and jobs: repeat it with `next_cursor` until `next_cursor` is null. Then only the " +
      "first of SEALING_KEYS is in use, except for the entries of `failed`.",
    body: { json: ResealBody, examples: { first: { summary: "The first request", value: {} } } },
    responses: [success(200, "The result", Resealed)],
  },
  createKey: {
    route: "POST /v2/admin/accounts/:id/keys",
    summary: "Create another API key for an account",
    description: "Without a body, the key has all rights of the account and does not expire.",
    body: {
      json: KeyBody,
      isOptional: true,
      examples: {
        restricted: {
          summary: "A key that only reads jobs, until a day",
          value: { name: "reports", scopes: ["jobs:read"], expires_at: "2027-01-31T00:00:00Z" },
        },
      },
    },
    responses: [success(201, "The key", NewKey)],
    codes: ["account_not_found"],
  },
  listKeys: {
    route: "GET /v2/admin/accounts/:id/keys",
    summary: "List the API keys of an account",
    responses: [success(200, "The keys, without their secrets", KeyList)],
    codes: ["account_not_found"],
  },
  revokeKey: {
    route: "DELETE /v2/admin/keys/:id",
    summary: "Revoke an API key",
    path: [credential("key")],
    responses: [success(200, "The key is revoked", Revoked)],
    codes: ["credential_not_found"],
  },
  createNodeToken: {
    route: "POST /v2/admin/node-tokens",
    summary: "Create a node token",
    body: {
      json: NodeTokenBody,
      examples: {
        named: { summary: "A token for one or more nodes", value: { name: "rack" } },
        bound: {
          summary: "A token for nodes of another pool",
          value: { name: "gpu rack", pool: "gpu", labels: ["region:eu"] },
        },
      },
    },
    responses: [success(201, "The token", NewNodeToken)],
  },
  listNodeTokens: {
    route: "GET /v2/admin/node-tokens",
    summary: "List node tokens",
    responses: [success(200, "The tokens, without their secrets", NodeTokenList)],
  },
  revokeNodeToken: {
    route: "DELETE /v2/admin/node-tokens/:id",
    summary: "Revoke a node token",
    path: [credential("token")],
    responses: [success(200, "The token is revoked", Revoked)],
    codes: ["credential_not_found"],
  },
});
