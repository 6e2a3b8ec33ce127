// Authentication: clients by API key (Basic), nodes and the operator by token (Bearer). Text without the form of a key
// needs no database access. An unknown key needs a single index lookup. Guessing a key among 2^256 is not feasible.
import { waitUntil } from "cloudflare:workers";
import type { MiddlewareHandler } from "hono";
import { ACCOUNT_HEADER } from "#shared/api/session.ts";
import { AppError } from "#shared/errors.ts";
import { isApiKey, isNodeToken } from "#shared/ids.ts";
import type { Env } from "../../bindings.ts";
import { purposeDigest, type Session } from "../../crypto/session.ts";
import { findAccount } from "../../db/accounts.ts";
import {
  type Account,
  accountOfKey,
  type KeyLimits,
  nodeTokenOf,
  noteUse,
  type TokenPlacement,
  type ValidKey,
} from "../../db/credentials.ts";
import type { Admitted } from "../../dispatch/connections/node-about.ts";
import { ExpiringMap } from "../../expiring-map.ts";
import { settingsOf } from "../../settings.ts";
import { checkAdminToken, findCredential } from "./failed-attempts.ts";
import { type AnyContext, requireSameOrigin } from "./same-origin.ts";
import { type KeyAccess, requireAccess } from "./scopes.ts";
import { readSession } from "./session-cookie.ts";

/** The API key of a request: its id and end. Without: the operator acts for the account. */
export type UsedKey = { readonly keyId: string | null } & Pick<KeyLimits, "expiresAt">;

/** `scopes`: of the API key; null: all requests are allowed. */
export type ClientEnv = { Bindings: Env; Variables: { account: Account; scopes: KeyLimits["scopes"]; key: UsedKey } };
export type NodeEnv = {
  Bindings: Env;
  Variables: { tokenId: string; placement: TokenPlacement; admitted: Omit<Admitted, "service"> };
};
export type AdminEnv = { Bindings: Env };

/**
 * Requires a valid API key with this access, or its session, within the key's rate limit, and sets the account. The
 * operator, by token or session, acts for the account that a header names.
 */
export const clientAuth =
  (access: KeyAccess): MiddlewareHandler<ClientEnv> =>
  async (context, next) => {
    const session = await sessionOf(context);
    const named = context.req.header(ACCOUNT_HEADER) ?? (session?.key === null ? session.account : null);
    const { account, scopes, id: keyId, expiresAt } = await rightsOf(context, session, named);
    requireAccess(scopes, access);
    context.set("key", { keyId, expiresAt });
    context.set("account", account);
    context.set("scopes", scopes);
    await next();
  };

/** An account, and the API key that gives access to it. `id` null: the operator has access. */
type AccountRights = { readonly account: Account; readonly id: string | null } & KeyLimits;
const OPERATOR = { id: null, scopes: null, expiresAt: null };

async function rightsOf(context: AnyContext, session: Session | null, named: string | null): Promise<AccountRights> {
  if (named !== null) return { account: await accountOfOperator(context, session, named), ...OPERATOR };
  if (session) return (await accountOfSession(context, session)) ?? endedSession(context);
  return credentialOfKey(context);
}

/** The API key in the header, and its account. Throws AppError. */
export async function credentialOfKey(context: AnyContext): Promise<ValidKey> {
  const header = context.req.header("authorization");
  const key = basicUser(header);
  if (key === null || !isApiKey(key)) throw unauthorized(context, "Basic", apiKeyError(header));
  const digest = await apiKeyDigest(key);
  await limitRate(context, digest);
  const valid = await polledKey(context, digest, (lookUp) => findCredential(context, digest, lookUp));
  if (!valid) throw unauthorized(context, "Basic", apiKeyError(header));
  return valid;
}

/** Valid credentials by digest: a key for a second, because clients poll, and a token while its node works. */
const keys = new ExpiringMap<ValidKey>(1000, 5000);
const tokens = new ExpiringMap<{ id: string } & TokenPlacement>(30_000, 5000);

/** The valid API key with this digest. Only requests that change nothing may use a known key. */
async function polledKey(
  context: AnyContext,
  digest: string,
  find: (lookUp: () => Promise<ValidKey | null>) => Promise<ValidKey | null>,
): Promise<ValidKey | null> {
  const now = Date.now();
  const lookUp = () => find(() => usedKey(context, digest, now));
  if (context.req.method !== "GET") return lookUp();
  const key = await keys.remember(digest, now, lookUp);
  return key === null || key.expiresAt === null || key.expiresAt > now ? key : null;
}

/** The same, looked up. The response does not wait for the note of its use; runQuery logs a failure. */
async function usedKey({ env }: AnyContext, digest: string, now: number): Promise<ValidKey | null> {
  const key = await accountOfKey(env.DB, digest, now);
  if (key) waitUntil(noteUse(env.DB, key, now).catch(() => {}));
  return key;
}

/** The stored digests of credentials. Credentials have 256 random bits, so no slow hash is needed. */
export const apiKeyDigest = (key: string): Promise<string> => purposeDigest("api key", key);
export const nodeTokenDigest = (token: string): Promise<string> => purposeDigest("node token", token);

/** The account of a session's API key; null if the session has no valid API key. */
export async function accountOfSession(context: AnyContext, { key }: Session): Promise<ValidKey | null> {
  if (key === null) return null;
  await limitRate(context, key);
  // The service sealed this digest, so it is no guess.
  return polledKey(context, key, (lookUp) => lookUp());
}

async function accountOfOperator(context: AnyContext, session: Session | null, id: string): Promise<Account> {
  if (!(await isOperator(context, session))) {
    const message = "`Copra-Account` needs the admin token, or the session of an operator";
    throw session?.admin ? ended(context) : unauthorized(context, "Bearer", message);
  }
  await limitRate(context, `operator ${id}`);
  const account = await findAccount(context.env.DB, id);
  if (!account) throw new AppError("account_not_found", "The account of `Copra-Account` does not exist");
  return account;
}

async function limitRate({ env }: AnyContext, key: string): Promise<void> {
  if ((await env.CLIENT_RATE.limit({ key })).success) return;
  throw new AppError("rate_limited", "Too many requests with this API key; try again later");
}

/** Requires a valid node token. Sets its id, and the pool and labels that it binds. */
export const nodeAuth: MiddlewareHandler<NodeEnv> = async (context, next) => {
  const token = bearer(context.req.header("authorization"));
  const digest = token !== null && isNodeToken(token) ? await nodeTokenDigest(token) : null;
  const { DB } = context.env;
  const lookUp = (known: string) => findCredential(context, known, () => nodeTokenOf(DB, known));
  const valid = digest === null ? null : await tokens.remember(digest, Date.now(), () => lookUp(digest));
  if (!valid) throw unauthorized(context, "Bearer", "The node token is missing or unknown");
  context.set("tokenId", valid.id);
  context.set("placement", { pool: valid.pool, labels: valid.labels });
  await next();
};

/** Requires the admin token, or its session. A change may revoke credentials, so this isolate forgets them. */
export const adminAuth: MiddlewareHandler<AdminEnv> = async (context, next) => {
  const session = await sessionOf(context);
  if (!(await isOperator(context, session))) {
    throw session ? ended(context) : unauthorized(context, "Bearer", "The admin token is missing or wrong");
  }
  await next();
  if (context.req.method === "GET") return;
  keys.clear();
  tokens.clear();
};

/**
 * True if the session has the admin token. Without a session, the header must have it. Throws AppError(rate_limited).
 */
export async function isOperator(context: AnyContext, session: Session | null): Promise<boolean> {
  const { adminToken } = settingsOf(context.env);
  if (session) return session.admin !== null && isSameText(session.admin, await adminDigest(adminToken));
  const token = bearer(context.req.header("authorization"));
  return token !== null && checkAdminToken(context, () => isSameText(token, adminToken));
}

/** Requires METRICS_TOKEN, which may only read the state of the fleet, or the admin token. */
export const monitorAuth: MiddlewareHandler<AdminEnv> = async (context, next) => {
  const session = await sessionOf(context);
  if (session && (await isOperator(context, session))) return next();
  const { adminToken, metricsToken } = settingsOf(context.env);
  const token = bearer(context.req.header("authorization"));
  const accepted = [adminToken, ...(metricsToken === null ? [] : [metricsToken])];
  const isAccepted = async (given: string): Promise<boolean> =>
    (await Promise.all(accepted.map((token) => isSameText(given, token)))).includes(true);
  if (token === null || !(await checkAdminToken(context, () => isAccepted(token)))) {
    throw unauthorized(context, "Bearer", "The metrics token or the admin token is missing or wrong");
  }
  await next();
};

/** The session in the cookie of a request without an `Authorization` header. Throws AppError(cross_site_request). */
async function sessionOf(context: AnyContext): Promise<Session | null> {
  if (context.req.header("authorization") !== undefined) return null;
  const session = await readSession(context);
  if (session) requireSameOrigin(context);
  return session;
}

/** The error for a missing or invalid credential, with a challenge header (RFC 7617 §2, RFC 6750 §3). */
export function unauthorized(context: AnyContext, scheme: keyof typeof CHALLENGES, message: string): AppError {
  // With a challenge, a browser would ask the person for a name and a password, even if a script sent the request.
  const isScript = (context.req.header("sec-fetch-mode") ?? "navigate") !== "navigate";
  context.header("www-authenticate", CHALLENGES[isScript ? "Session" : scheme]);
  return new AppError("authentication_failed", message);
}
const CHALLENGES = {
  Basic: 'Basic realm="copra", charset="UTF-8"',
  Bearer: 'Bearer realm="copra"',
  Session: 'Session realm="copra"',
} as const;

/** Throws the error for a session whose credential is no longer valid. */
function endedSession(context: AnyContext): never {
  throw ended(context);
}
const ended = (context: AnyContext): AppError =>
  unauthorized(context, "Session", "The session has ended: it has expired, or its key or token was revoked");

/** The user name of a Basic header; null if there is none. */
export const basicUser = (header: string | undefined): string | null => basicPair(header)?.[0] || null;

/** The token of a Bearer header; null if there is none. */
export const bearer = (header: string | undefined): string | null =>
  /^bearer +(\S{1,512})$/i.exec(header ?? "")?.[1] ?? null;

/** The digest of the admin token in sessions. A new admin token ends them. */
export const adminDigest = (token: string): Promise<string> => purposeDigest("admin session", token);

/** Compares two texts in constant time. */
async function isSameText(one: string, other: string): Promise<boolean> {
  const hash = (text: string): Promise<ArrayBuffer> => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return crypto.subtle.timingSafeEqual(await hash(one), await hash(other));
}

/** Error messages for API keys that are missing, misplaced or unknown. */
const HOW = "send the API key as the user name of HTTP Basic authentication, as `curl -u KEY:` does";

/** The error message for an `Authorization` header without a valid API key. Repeats nothing of the header. */
function apiKeyError(header: string | undefined): string {
  if (!header) return `The API key is missing; ${HOW}`;
  if (/^bearer\b/i.test(header)) return `Bearer tokens are not supported here; ${HOW}`;
  const pair = basicPair(header);
  if (!pair) return `The Authorization header is not valid HTTP Basic authentication; ${HOW}`;
  const [user, password] = pair;
  if (isApiKey(user))
    return "The API key is unknown; it may have expired or been revoked, or belong to another service";
  if (isApiKey(password)) return `The API key is in the password; ${HOW}`;
  if (isNodeToken(user)) return `The user name is a node token; ${HOW}`;
  return `The user name is not an API key; API keys start with \`k-\`; ${HOW}`;
}

/** Clients send no longer headers. */
const MAX_CHARS = 512;

/** User and password of a Basic header (RFC 7617 §2); null for any other header. */
function basicPair(header: string | undefined): [user: string, password: string] | null {
  const encoded = /^basic +([\w+/=-]+) *$/i.exec(header ?? "")?.[1];
  if (!encoded || encoded.length > MAX_CHARS) return null;
  try {
    const [user = "", ...password] = atob(encoded).split(":");
    return [user, password.join(":")];
  } catch {
    return null;
  }
}
