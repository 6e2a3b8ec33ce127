// Who is asking: clients by API key (Basic), nodes and the operator by token (Bearer). What does not look like a key costs
// the database nothing, and a wrong one costs a look into an index: nobody guesses one of 2^256.

import type { Context, MiddlewareHandler } from "hono";
import { AppError } from "#shared/errors.ts";
import { isApiKey, isNodeToken } from "#shared/ids.ts";
import { type Account, accountOfKey, digestOf, opensToNodes } from "../db/credentials.ts";
import { type Env, settingsOf } from "../env.ts";
import { basicPair, keyFault } from "./key-fault.ts";
import { judgeAdminToken, whatOpens } from "./refusals.ts";

export type ClientEnv = { Bindings: Env; Variables: { account: Account } };
export type NodeEnv = { Bindings: Env; Variables: { tokenDigest: string } };
export type AdminEnv = { Bindings: Env };

/** Lets clients with a valid API key through, at a bearable rate, and names their account. */
export const clientAuth: MiddlewareHandler<ClientEnv> = async (context, next) => {
  const key = basicUser(context.req.header("authorization"));
  const digest = key !== null && isApiKey(key) ? await digestOf(key, settingsOf(context.env).keyPepper) : null;
  if (digest !== null && !(await context.env.CLIENT_RATE.limit({ key: digest })).success) {
    throw new AppError("rate_limited", "Too many requests came with this API key; please wait a moment");
  }
  const { DB } = context.env;
  const account = digest === null ? null : await whatOpens(context, digest, () => accountOfKey(DB, digest));
  if (!account) {
    throw refused(context, "Basic", keyFault(context.req.header("authorization")));
  }
  context.set("account", account);
  await next();
};

/** Lets nodes with a valid token through, and names its digest. */
export const nodeAuth: MiddlewareHandler<NodeEnv> = async (context, next) => {
  const token = bearer(context.req.header("authorization"));
  const digest = token !== null && isNodeToken(token) ? await digestOf(token, settingsOf(context.env).keyPepper) : null;
  const { DB } = context.env;
  const lookUp = async (known: string) => (await opensToNodes(DB, known)) || null;
  const opens = digest === null ? null : await whatOpens(context, digest, () => lookUp(digest));
  if (digest === null || !opens) {
    throw refused(context, "Bearer", "The node token is missing or not valid");
  }
  context.set("tokenDigest", digest);
  await next();
};

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
