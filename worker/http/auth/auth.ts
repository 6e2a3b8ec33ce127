// Authentication: clients by API key (Basic), nodes and the operator by token (Bearer). Text without the form of a key
// needs no database access, and an unknown key needs one index lookup. Guessing one of 2^256 keys is not feasible.

import type { Context, MiddlewareHandler } from "hono";
import { AppError } from "#shared/errors.ts";
import { isApiKey, isNodeToken } from "#shared/ids.ts";
import { messageOf } from "#shared/log.ts";
import type { Env } from "../../bindings.ts";
import { digestsOf } from "../../crypto/peppers.ts";
import {
  type Account,
  accountOfKey,
  type NewCredential,
  nodeTokenOf,
  type TokenPlacement,
  updateDigest,
} from "../../db/credentials.ts";
import { apiKeys, nodeTokens } from "../../db/schema.ts";
import type { Admitted } from "../../dispatch/node-about.ts";
import { log } from "../../log.ts";
import { settingsOf } from "../../settings.ts";
import { apiKeyError, basicPair } from "./api-key-error.ts";
import { checkAdminToken, findCredential } from "./failed-attempts.ts";

export type ClientEnv = { Bindings: Env; Variables: { account: Account } };
export type NodeEnv = { Bindings: Env; Variables: { tokenId: string; placement: TokenPlacement; admitted: Admitted } };
export type AdminEnv = { Bindings: Env };

/** Requires a valid API key, within its rate limit, and sets the account. */
export const clientAuth: MiddlewareHandler<ClientEnv> = async (context, next) => {
  const key = basicUser(context.req.header("authorization"));
  const { peppers } = settingsOf(context.env);
  const digests = key !== null && isApiKey(key) ? await digestsOf(key, peppers) : null;
  if (digests !== null && !(await context.env.CLIENT_RATE.limit({ key: digests[0] })).success) {
    throw new AppError("rate_limited", "Too many requests with this API key; try again later");
  }
  const { DB } = context.env;
  const found = digests === null ? null : await findCredential(context, digests[0], () => accountOfKey(DB, digests));
  if (!digests || !found) {
    throw unauthorized(context, "Basic", apiKeyError(context.req.header("authorization")));
  }
  await updatePepper(DB, apiKeys, found.digest, { digest: digests[0], pepper: peppers[0].name });
  context.set("account", found.account);
  await next();
};

/** Requires a valid node token, and sets its id and what it binds. */
export const nodeAuth: MiddlewareHandler<NodeEnv> = async (context, next) => {
  const token = bearer(context.req.header("authorization"));
  const { peppers } = settingsOf(context.env);
  const digests = token !== null && isNodeToken(token) ? await digestsOf(token, peppers) : null;
  const { DB } = context.env;
  const found = digests === null ? null : await findCredential(context, digests[0], () => nodeTokenOf(DB, digests));
  if (!digests || !found) {
    throw unauthorized(context, "Bearer", "The node token is missing or unknown");
  }
  await updatePepper(DB, nodeTokens, found.digest, { digest: digests[0], pepper: peppers[0].name });
  context.set("tokenId", found.id);
  context.set("placement", { pool: found.pool, labels: found.labels });
  await next();
};

/** Stores the digest of a credential with the newest pepper, so that the operator can remove older peppers. */
async function updatePepper(
  db: D1Database,
  table: typeof apiKeys | typeof nodeTokens,
  stored: string,
  newest: NewCredential,
): Promise<void> {
  if (stored === newest.digest) return;
  try {
    await updateDigest(db, table, stored, newest);
  } catch (error) {
    // The credential remains valid, and the next request tries again.
    log.warn("Credential digest not updated", { error: messageOf(error) });
  }
}

/** Requires the admin token. */
export const adminAuth: MiddlewareHandler<AdminEnv> = async (context, next) => {
  const { adminToken } = settingsOf(context.env);
  const token = bearer(context.req.header("authorization"));
  if (token === null || !(await checkAdminToken(context, () => isSameText(token, adminToken)))) {
    throw unauthorized(context, "Bearer", "The admin token is missing or wrong");
  }
  await next();
};

/** Requires METRICS_TOKEN, which may only read the state of the fleet, or the admin token. */
export const monitorAuth: MiddlewareHandler<AdminEnv> = async (context, next) => {
  const { adminToken, metricsToken } = settingsOf(context.env);
  const token = bearer(context.req.header("authorization"));
  const accepted = [adminToken, ...(metricsToken === null ? [] : [metricsToken])];
  const isAccepted = async (given: string): Promise<boolean> =>
    (await Promise.all(accepted.map((one) => isSameText(given, one)))).includes(true);
  if (token === null || !(await checkAdminToken(context, () => isAccepted(token)))) {
    throw unauthorized(context, "Bearer", "The metrics token or the admin token is missing or wrong");
  }
  await next();
};

/** The error for a missing or invalid credential, with a challenge header (RFC 7617 §2, RFC 6750 §3). */
function unauthorized(context: Context, scheme: keyof typeof CHALLENGES, message: string): AppError {
  context.header("www-authenticate", CHALLENGES[scheme]);
  return new AppError("authentication_failed", message);
}

const CHALLENGES = { Basic: 'Basic realm="copra", charset="UTF-8"', Bearer: 'Bearer realm="copra"' } as const;

/** The user name of a Basic header; null if there is none. */
export const basicUser = (header: string | undefined): string | null => basicPair(header)?.[0] || null;

/** The token of a Bearer header; null if there is none. */
export const bearer = (header: string | undefined): string | null =>
  /^bearer +(\S{1,512})$/i.exec(header ?? "")?.[1] ?? null;

/** Compares two texts in constant time. */
async function isSameText(one: string, other: string): Promise<boolean> {
  const hash = (text: string): Promise<ArrayBuffer> => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return crypto.subtle.timingSafeEqual(await hash(one), await hash(other));
}
