// /v2/session: signs in to the dashboard, by API key, admin token or one-time link.
import type * as z from "zod";
import { LinkBody, OnceBody, type SessionLink, type SessionView, type SignedOut } from "#shared/api/session.ts";
import { AppError } from "#shared/errors.ts";
import { randomText } from "#shared/ids.ts";
import { randomBytes } from "../../crypto/bytes.ts";
import { purposeDigest, type Session, sealSession, unsealSession } from "../../crypto/session.ts";
import { findAccount } from "../../db/accounts.ts";
import type { Account, KeyLimits } from "../../db/credentials.ts";
import { publicOrigin, settingsOf } from "../../settings.ts";
import { accountOfSession, adminDigest, bearer, credentialOfKey, isOperator, unauthorized } from "../auth/auth.ts";
import { endSession } from "../auth/ended-sessions.ts";
import { findCredential } from "../auth/failed-attempts.ts";
import { type AnyContext, requestOrigin, requireSameOrigin } from "../auth/same-origin.ts";
import { readSession, removeSession, writeSession } from "../auth/session-cookie.ts";
import { findLink, storeLink, takeLink } from "../auth/session-links.ts";
import { MAX_UNKNOWN_BODY_BYTES, readBody, readOptionalBody } from "../body/read-body.ts";
import { mount } from "../operation/mount.ts";
import { jsonResponse } from "../responses/json-response.ts";
import { SESSION_OPERATIONS } from "./session.operations.ts";

/** Lifetime of a session. */
const SESSION_MS = 12 * 60 * 60 * 1000;
const LINK_MS = 60_000;
/** 131 bits. */
const ID_CHARS = 22;
/** 238 bits. */
const ONCE_CHARS = 40;

export const session = mount(SESSION_OPERATIONS, {
  getSession: async (context) => {
    const hasHeader = context.req.header("authorization") !== undefined;
    const credential = hasHeader ? await fromCredential(context) : await readSession(context);
    const { current, view } = await validSession(context, credential);
    return jsonResponse(context, { ...viewSession(current, view), ...(hasHeader ? { expires_at: null } : {}) });
  },
  signIn: async (context) => {
    // Another site must not sign a person in under another name.
    if (requestOrigin(context) === "other") requireSameOrigin(context);
    const hasHeader = context.req.header("authorization") !== undefined;
    const link = hasHeader ? null : await readOnce(context);
    if (link?.preview) return jsonResponse(context, await previewOf(context, link.once));
    const session = link ? await fromLink(context, link.once, takeLink) : await fromCredential(context);
    const before = await readSession(context);
    const { current, view } = await validSession(context, before ? joined(session, before) : session);
    await writeSession(context, current);
    if (before) await endSession(context.env.DB, before, Date.now());
    return jsonResponse(context, viewSession(current, view));
  },
  signOut: async (context) => {
    const current = await readSession(context);
    if (current) {
      requireSameOrigin(context);
      await endSession(context.env.DB, current, Date.now());
    }
    removeSession(context);
    return jsonResponse(context, { signed_out: true } satisfies z.infer<typeof SignedOut>);
  },
  createSessionLink: async (context) => {
    const hasHeader = context.req.header("authorization") !== undefined;
    if (!hasHeader) requireSameOrigin(context);
    const credential = hasHeader ? await fromCredential(context) : await readSession(context);
    const { current, view } = await validSession(context, credential);
    const { account = current.account ?? undefined } = await readOptionalBody(
      context.req,
      LinkBody,
      "request_not_valid",
    );
    if (account !== undefined && account !== current.account) await requireAccount(context, account, view.isOperator);
    return jsonResponse(context, await newLink(context, { ...current, account: account ?? null }));
  },
});

/** The body of a sign-in by link. It must be small, because the sender has proved nothing yet. */
const readOnce = (context: AnyContext): Promise<z.infer<typeof OnceBody>> =>
  readBody(context.req, OnceBody, "request_not_valid", MAX_UNKNOWN_BODY_BYTES);

/** The current rights of a session. Its credentials are looked up each time. */
type Rights = { readonly account: Account | null; readonly scopes: KeyLimits["scopes"]; readonly isOperator: boolean };

/**
 * The session without credentials that are no longer valid. Throws AppError(authentication_failed) if no credential is
 * left.
 */
async function validSession(context: AnyContext, given: Session | null): Promise<{ current: Session; view: Rights }> {
  const valid = given && (await validPart(context, given));
  if (valid) return valid;
  if (given) removeSession(context);
  throw unauthorized(context, "Session", "Nobody is signed in, or the session has ended");
}

/** The same; null if no credential is left. */
async function validPart(context: AnyContext, given: Session): Promise<{ current: Session; view: Rights } | null> {
  const operator = given.admin !== null && (await isOperator(context, given));
  const ofKey = await accountOfSession(context, given);
  if (!operator && !ofKey) return null;
  const chosen = operator && given.account !== null ? await findAccount(context.env.DB, given.account) : null;
  const current = { ...given, key: ofKey ? given.key : null, admin: operator ? given.admin : null };
  const view = { account: ofKey?.account ?? chosen, scopes: ofKey?.scopes ?? null, isOperator: operator };
  return { current, view };
}

/** Adds the rights of a second credential to a session. The earlier rights do not last longer. */
function joined(begun: Session, before: Session): Session {
  const key = begun.key ?? before.key;
  const admin = begun.admin ?? before.admin;
  const isNew = key === begun.key && admin === begun.admin;
  const expiresAt = isNew ? begun.expiresAt : Math.min(begun.expiresAt, before.expiresAt);
  return { id: begun.id, key, admin, account: begun.account ?? before.account, expiresAt };
}

const viewSession = ({ expiresAt }: Session, { account, scopes, isOperator }: Rights): SessionView => ({
  account: account && { id: account.id, name: account.name },
  scopes: scopes && [...scopes],
  operator: isOperator,
  expires_at: new Date(expiresAt).toISOString(),
});

const NONE = { key: null, admin: null, account: null };
const newId = (): string => randomText(ID_CHARS, randomBytes);

/** The rights of the API key or admin token in the header. Throws AppError. */
async function fromCredential(context: AnyContext): Promise<Session> {
  const expiresAt = Date.now() + SESSION_MS;
  if (bearer(context.req.header("authorization")) === null) {
    const key = await credentialOfKey(context);
    const end = Math.min(expiresAt, key.expiresAt ?? expiresAt);
    return { ...NONE, id: newId(), key: key.digest, expiresAt: end };
  }
  if (!(await isOperator(context, null))) throw unauthorized(context, "Bearer", "The admin token is wrong");
  return { ...NONE, id: newId(), admin: await adminDigest(settingsOf(context.env).adminToken), expiresAt };
}

/** The rights of a one-time link. `takeLink` uses up the link, `findLink` does not. Throws AppError. */
async function fromLink(context: AnyContext, once: string, read: typeof takeLink | typeof findLink): Promise<Session> {
  const digest = await linkDigest(once);
  const link = await findCredential(context, digest, () => read(context.env.DB, digest));
  const now = Date.now();
  const { sealingKeys: keys } = settingsOf(context.env);
  const session =
    link && link.expiresAt > now ? await unsealSession(link.sealed, { link: digest }, { keys, now }) : null;
  if (!session) throw unusable(context);
  return { ...session, id: newId() };
}

const unusable = (context: AnyContext): AppError =>
  unauthorized(context, "Session", "The link was already used, or is older than a minute");

/** The account that a link signs in. The browser keeps its session, whatever the link is. Throws AppError. */
async function previewOf(context: AnyContext, once: string): Promise<SessionView> {
  const valid = await validPart(context, await fromLink(context, once, findLink));
  if (!valid) throw unusable(context);
  return viewSession(valid.current, valid.view);
}

async function newLink(context: AnyContext, begun: Session): Promise<SessionLink> {
  const now = Date.now();
  const { sealingKeys } = settingsOf(context.env);
  const once = randomText(ONCE_CHARS, randomBytes);
  // The link's session ends with the session that made the link. Otherwise the owner of a cookie could have access for
  // ever.
  const digest = await linkDigest(once);
  const sealed = await sealSession(begun, { link: digest }, sealingKeys);
  await storeLink(context.env.DB, { digest, sealed, expiresAt: now + LINK_MS }, now);
  // Browsers send the fragment to no server.
  return {
    url: `${publicOrigin(context.env, context.req.url)}/dashboard#once=${once}`,
    expires_at: new Date(now + LINK_MS).toISOString(),
  };
}

const linkDigest = (once: string): Promise<string> => purposeDigest("session link", once);

async function requireAccount(context: AnyContext, id: string, isOperator: boolean): Promise<void> {
  if (isOperator && (await findAccount(context.env.DB, id))) return;
  if (isOperator) throw new AppError("account_not_found", "There is no account with this id");
  throw new AppError("request_not_valid", "`account` needs the admin token: an API key is for its own account");
}
