// Authenticates nodes that connect: by a session that the hub signed, without the database. Otherwise by their token.
import type { Context, MiddlewareHandler } from "hono";
import { NAME_HEADER, SESSION_HEADER } from "#shared/protocol/frames.ts";
import { type NodeSession, readSession } from "../../crypto/node-session.ts";
import { settingsOf } from "../../settings.ts";
import { bearer, type NodeEnv, nodeAuth, nodeTokenDigest } from "./auth.ts";

/** Length of the token digest's start that binds a session to its token: 128 bits. */
const DIGEST_CHARS = 32;

/** Requires a valid session of the node token, or a valid node token. */
export const connectAuth: MiddlewareHandler<NodeEnv> = async (context, next) => {
  const token = bearer(context.req.header("authorization"));
  const digest = token === null ? null : (await nodeTokenDigest(token)).slice(0, DIGEST_CHARS);
  const session = sessionOf(context, digest);
  if (session) {
    const { expiresAt: _, ...admitted } = session;
    context.set("admitted", admitted);
    return next();
  }
  return nodeAuth(context, async () => {
    const { pool, labels } = context.get("placement");
    const nodeId = nameOf(context.req.header(NAME_HEADER));
    const admitted = { pool, labels: [...labels], nodeId, digest: digest ?? "" };
    context.set("admitted", { token: context.get("tokenId"), ...admitted });
    await next();
  });
};

function sessionOf(context: Context<NodeEnv>, digest: string | null): NodeSession | null {
  const text = context.req.header(SESSION_HEADER);
  if (text === undefined) return null;
  const session = readSession(text, settingsOf(context.env).sealingKeys, Date.now());
  return session?.digest === digest ? session : null;
}

/** The name in the header; null: no name. */
function nameOf(header: string | undefined): string | null {
  try {
    return header === undefined || header === "" ? null : decodeURIComponent(header);
  } catch {
    return null;
  }
}
