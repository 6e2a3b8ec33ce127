// Who is asking: clients by API key (Basic), nodes and the operator by token (Bearer). What does not look like a key costs
// the database nothing, and a wrong one costs a look into an index: nobody guesses one of 2^256.

import type { Context, MiddlewareHandler } from "hono";
import { AppError } from "#shared/errors.ts";
import { isApiKey, isNodeToken } from "#shared/ids.ts";
import { messageOf } from "#shared/log.ts";
import { type Account, accountOfKey, type NewCredential, nodeTokenOf, storeAgain } from "../../db/credentials.ts";
import { digestsOf } from "../../db/peppers.ts";
import { apiKeys, nodeTokens } from "../../db/schema.ts";
import { type Env, log, settingsOf } from "../../env.ts";
import { basicPair, keyFault } from "./api-key-error.ts";
import { judgeAdminToken, whatOpens } from "./failed-attempts.ts";

export type ClientEnv = { Bindings: Env; Variables: { account: Account } };
export type NodeEnv = { Bindings: Env; Variables: { tokenId: string } };
export type AdminEnv = { Bindings: Env };

/** Lets clients with a valid API key through, at a bearable rate, and names their account. */
export const clientAuth: MiddlewareHandler<ClientEnv> = async (context, next) => {
  const key = basicUser(context.req.header("authorization"));
  const { peppers } = settingsOf(context.env);
  const digests = key !== null && isApiKey(key) ? await digestsOf(key, peppers) : null;
  if (digests !== null && !(await context.env.CLIENT_RATE.limit({ key: digests[0] })).success) {
    throw new AppError("rate_limited", "Too many requests came with this API key; please wait a moment");
  }
  const { DB } = context.env;
  const found = digests === null ? null : await whatOpens(context, digests[0], () => accountOfKey(DB, digests));
  if (!digests || !found) {
    throw refused(context, "Basic", keyFault(context.req.header("authorization")));
  }
  await keepUpToDate(DB, apiKeys, found.digest, { digest: digests[0], pepper: peppers[0].name });
  context.set("account", found.account);
  await next();
};

/** Lets nodes with a valid token through, and names its id. */
export const nodeAuth: MiddlewareHandler<NodeEnv> = async (context, next) => {
  const token = bearer(context.req.header("authorization"));
  const { peppers } = settingsOf(context.env);
  const digests = token !== null && isNodeToken(token) ? await digestsOf(token, peppers) : null;
  const { DB } = context.env;
  const found = digests === null ? null : await whatOpens(context, digests[0], () => nodeTokenOf(DB, digests));
  if (!digests || !found) {
    throw refused(context, "Bearer", "The node token is missing or not valid");
  }
  await keepUpToDate(DB, nodeTokens, found.digest, { digest: digests[0], pepper: peppers[0].name });
  context.set("tokenId", found.id);
  await next();
};

/** A credential that was stored under an older pepper is stored under the newest: then the older one may be removed. */
async function keepUpToDate(
  db: D1Database,
  table: typeof apiKeys | typeof nodeTokens,
  stored: string,
  newest: NewCredential,
): Promise<void> {
  if (stored === newest.digest) return;
  try {
    await storeAgain(db, table, stored, newest);
  } catch (error) {
    // It is good all the same, and the next request tries again.
    log.warn("Credential not stored under the newest pepper", { error: messageOf(error) });
  }
}

/** Lets the operator through. */
export const adminAuth: MiddlewareHandler<AdminEnv> = async (context, next) => {
  const { adminToken } = settingsOf(context.env);
  const token = bearer(context.req.header("authorization"));
  if (token === null || !(await judgeAdminToken(context, () => sameText(token, adminToken)))) {
    throw refused(context, "Bearer", "The admin token is missing or not valid");
  }
  await next();
};

/** The error for those who are not let through; the answer tells them how to come (RFC 7617 §2, RFC 6750 §3). */
function refused(context: Context, scheme: keyof typeof CHALLENGES, message: string): AppError {
  context.header("www-authenticate", CHALLENGES[scheme]);
  return new AppError("authentication_failed", message);
}

const CHALLENGES = { Basic: 'Basic realm="copra", charset="UTF-8"', Bearer: 'Bearer realm="copra"' } as const;

/** The user name of a Basic header, or null. */
export const basicUser = (header: string | undefined): string | null => basicPair(header)?.[0] || null;

const bearer = (header: string | undefined): string | null => /^bearer +(\S{1,512})$/i.exec(header ?? "")?.[1] ?? null;

/** Compares two texts in a time that tells nothing of where they differ. */
async function sameText(one: string, other: string): Promise<boolean> {
  const hash = (text: string): Promise<ArrayBuffer> => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return crypto.subtle.timingSafeEqual(await hash(one), await hash(other));
}
