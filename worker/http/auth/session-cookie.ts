// The cookie of a browser's session.
import { parse, serialize } from "hono/utils/cookie";
import { type Session, sealSession, unsealSession } from "../../crypto/session.ts";
import { settingsOf } from "../../settings.ts";
import type { AnyContext } from "./same-origin.ts";

/** Name and attributes. A cookie of plain HTTP is for the local system; there, other ports of the host see it, too. */
function cookieOf(context: AnyContext): { name: string; isSecure: boolean } {
  const { protocol, host, port } = new URL(context.req.url);
  const { publicUrl } = settingsOf(context.env);
  // A proxy may have ended TLS before the request arrived here.
  const outside = publicUrl === null ? null : new URL(publicUrl);
  const isSecure = protocol === "https:" || (outside?.protocol === "https:" && outside.host === host);
  return isSecure ? { name: "__Host-copra", isSecure } : { name: `copra-${port || "80"}`, isSecure };
}

/** The session of the cookie; null without one, or if it is not valid or has expired. */
export async function readSession(context: AnyContext): Promise<Session | null> {
  const { name } = cookieOf(context);
  const text = parse(context.req.header("cookie") ?? "", name)[name];
  const { sealingKeys: keys } = settingsOf(context.env);
  return text === undefined ? null : unsealSession(text, "cookie", { keys, now: Date.now() });
}

export async function writeSession(context: AnyContext, session: Session): Promise<void> {
  const maxAge = Math.max(0, Math.floor((session.expiresAt - Date.now()) / 1000));
  setCookie(context, await sealSession(session, "cookie", settingsOf(context.env).sealingKeys), maxAge);
}

export const removeSession = (context: AnyContext): void => setCookie(context, "", 0);

function setCookie(context: AnyContext, value: string, maxAge: number): void {
  const { name, isSecure } = cookieOf(context);
  const attributes = { path: "/", httpOnly: true, sameSite: "Strict", secure: isSecure, maxAge } as const;
  context.header("set-cookie", serialize(name, value, attributes), { append: true });
}
