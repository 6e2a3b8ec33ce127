// /v2/admin: accounts with their API keys, and node tokens. Responses contain secrets only once, on creation.

import type * as z from "zod";
import { KeyBody, NamedBody, NodeTokenBody } from "#shared/api/operator-requests.ts";
import type {
  AccountList,
  KeyList,
  NewAccount,
  NewKey,
  NewNodeToken,
  NodeTokenList,
  Revoked,
} from "#shared/api/operator-responses.ts";
import { AppError } from "#shared/errors.ts";
import { newApiKey, newNodeToken, randomText } from "#shared/ids.ts";
import { contractDate } from "#shared/job/job-view.ts";
import { randomBytes } from "../../crypto/bytes.ts";
import { seal } from "../../crypto/sealed-secret.ts";
import { listAccounts } from "../../db/accounts.ts";
import {
  type CredentialView,
  credentialId,
  insertAccount,
  insertKey,
  insertNodeToken,
  type KeyDetails,
  listKeys,
  listNodeTokens,
  revokeKey,
  revokeNodeToken,
} from "../../db/credentials.ts";
import { newWebhookSecret } from "../../notify/signature.ts";
import { settingsOf } from "../../settings.ts";
import { auditPage } from "../account/audit.ts";
import { apiKeyDigest, nodeTokenDigest } from "../auth/auth.ts";
import { readBody, readOptionalBody } from "../body/read-body.ts";
import { askHubs } from "../fleet/ask-hubs.ts";
import { mount } from "../operation/mount.ts";
import { jsonResponse } from "../responses/json-response.ts";
import { ADMIN_OPERATIONS } from "./admin.operations.ts";
import { knownAccount, rotation, viewLimits } from "./admin-rotation.ts";

const dateOf = (time: number | null): string | null => (time === null ? null : contractDate(time));

const viewCredential = ({ id, createdAt, revokedAt }: CredentialView) => ({
  id,
  created_at: contractDate(createdAt),
  revoked_at: dateOf(revokedAt),
});

export const admin = mount(ADMIN_OPERATIONS, {
  ...rotation,
  listAllAudit: (context) => auditPage(context, null),
  createAccount: async (context) => {
    const { name } = await readBody(context.req, NamedBody, "request_not_valid");
    const { sealingKeys } = settingsOf(context.env);
    const id = randomText(14, randomBytes);
    const apiKey = newApiKey(randomBytes);
    const webhookSecret = newWebhookSecret(randomBytes(32));
    const sealedWebhookSecret = await seal(webhookSecret, `account:${id}`, sealingKeys);
    const account = { id, name, sealedWebhookSecret, createdAt: Date.now() };
    await insertAccount(context.env.DB, account, await apiKeyDigest(apiKey));
    const created: NewAccount = { account_id: id, api_key: apiKey, webhook_secret: webhookSecret };
    return jsonResponse(context, created, 201);
  },
  listAccounts: async (context) => {
    const accounts = await listAccounts(context.env.DB);
    const views = accounts.map((account) => {
      return {
        id: account.id,
        name: account.name,
        created_at: contractDate(account.createdAt),
        ...viewLimits(account),
      };
    });
    return jsonResponse(context, { accounts: views } satisfies AccountList);
  },
  createKey: async (context) => {
    const account = await knownAccount(context.env.DB, context.req.param("id"));
    const apiKey = newApiKey(randomBytes);
    const createdAt = Date.now();
    const limits = limitsOf(await readOptionalBody(context.req, KeyBody, "request_not_valid"), createdAt);
    const digest = await apiKeyDigest(apiKey);
    await insertKey(context.env.DB, { digest, ...limits, accountId: account.id, createdAt });
    const created: NewKey = { id: credentialId(digest), api_key: apiKey, ...viewKey(limits) };
    return jsonResponse(context, created, 201);
  },
  listKeys: async (context) => {
    const account = await knownAccount(context.env.DB, context.req.param("id"));
    const stored = await listKeys(context.env.DB, account.id);
    const keys = stored.map((key) => ({ ...viewCredential(key), ...viewKey(key) }));
    return jsonResponse(context, { keys } satisfies KeyList);
  },
  revokeKey: async (context) => {
    const id = credentialIdOf(context.req.param("id"));
    if (!(await revokeKey(context.env.DB, id, Date.now())))
      throw new AppError("credential_not_found", "The API key does not exist");
    return jsonResponse(context, { id, revoked: true } satisfies Revoked);
  },
  createNodeToken: async (context) => {
    const { name, pool, labels } = await readBody(context.req, NodeTokenBody, "request_not_valid");
    // The first call creates the pool's hub, near the operator (health.ts).
    await askHubs(context.env, [pool], (hub) => hub.stats());
    const token = newNodeToken(randomBytes);
    const digest = await nodeTokenDigest(token);
    await insertNodeToken(context.env.DB, { digest, name, pool, labels, createdAt: Date.now() });
    const created: NewNodeToken = { id: credentialId(digest), node_token: token, pool, labels };
    return jsonResponse(context, created, 201);
  },
  listNodeTokens: async (context) => {
    const tokens = await listNodeTokens(context.env.DB);
    const views = tokens.map((token) => {
      return { ...viewCredential(token), name: token.name, pool: token.pool, labels: [...token.labels] };
    });
    return jsonResponse(context, { node_tokens: views } satisfies NodeTokenList);
  },
  revokeNodeToken: async (context) => {
    const id = credentialIdOf(context.req.param("id"));
    const pool = await revokeNodeToken(context.env.DB, id, Date.now());
    if (pool === null) throw new AppError("credential_not_found", "The node token does not exist");
    // If a hub does not respond, the request fails. The operator repeats it, which also closes the open sockets.
    await askHubs(context.env, [pool], (hub) => hub.revokeToken(id));
    return jsonResponse(context, { id, revoked: true } satisfies Revoked);
  },
});

/** A requested key. Throws AppError(request_not_valid) for an end that is not after `now`. */
function limitsOf({ name = "", scopes, expires_at: end }: z.infer<typeof KeyBody>, now: number): KeyDetails {
  const expiresAt = end === undefined ? null : Date.parse(end);
  if (expiresAt !== null && expiresAt <= now) {
    throw new AppError("request_not_valid", "`expires_at` must be in the future");
  }
  return { name, lastUsedAt: null, scopes: scopes ? [...new Set(scopes)] : null, expiresAt };
}

const viewKey = ({ name, lastUsedAt, scopes, expiresAt }: KeyDetails) => ({
  name,
  last_used_at: dateOf(lastUsedAt),
  scopes: scopes && [...scopes],
  expires_at: dateOf(expiresAt),
});

function credentialIdOf(text: string): string {
  if (/^[0-9a-f]{12}$/.test(text)) return text;
  throw new AppError("credential_not_found", "The id of a key or token must have 12 hexadecimal digits");
}
