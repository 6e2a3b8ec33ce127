// The cookie of a browser's session.
import { parse, serialize } from "hono/utils/cookie";
import { type Session, sealSession, unsealSession } from "../../crypto/session.ts";
import { settingsOf } from "../../settings.ts";
import { isEnded } from "./ended-sessions.ts";
import type { AnyContext } from "./same-origin.ts";

type Cookie = { readonly name: string; readonly isSecure: boolean };
const SECURE: Cookie = { name: "__Host-copra", isSecure: true };
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * The cookie to write, then other cookies that may hold a session. A cookie of plain HTTP is for the local system.
 * There, other ports of the host also see it.
 */
function cookiesOf(context: AnyContext): readonly [Cookie, ...Cookie[]] {
  const { protocol, hostname, port } = new URL(context.req.url);
  const plain: Cookie = { name: `copra-${port || "80"}`, isSecure: false };
  if (protocol === "https:") return [SECURE];
  const { publicUrl } = settingsOf(context.env);
  if (publicUrl === null || new URL(publicUrl).protocol !== "https:") return [plain];
  // A proxy ended TLS before the request arrived here. It may have replaced the host by the host that it forwards to.
  if (!LOOPBACK.test(hostname)) return [SECURE];
  // Without a proxy, the page on this machine uses plain HTTP. Requests that only read do not state their origin.
  return context.req.header("origin")?.startsWith("https:") ? [SECURE, plain] : [plain, SECURE];
}

/** The session in the cookie; null if there is no valid session, or if it has expired or was signed out of. */
export async function readSession(context: AnyContext): Promise<Session | null> {
  const sent = parse(context.req.header("cookie") ?? "");
  const { sealingKeys: keys } = settingsOf(context.env);
  // The secure cookie comes first: no other host and no plain HTTP can have written it.
  for (const { name } of cookiesOf(context).toSorted((a, b) => Number(b.isSecure) - Number(a.isSecure))) {
    const session = await unsealSession(sent[name] ?? "", "cookie", { keys, now: Date.now() });
    if (session && !(await isEnded(context.env.DB, session))) return session;
  }
  return null;
}

export async function writeSession(context: AnyContext, session: Session): Promise<void> {
  const maxAge = Math.max(0, Math.floor((session.expiresAt - Date.now()) / 1000));
  const [cookie] = cookiesOf(context);
  setCookie(context, cookie, await sealSession(session, "cookie", settingsOf(context.env).sealingKeys), maxAge);
}

export function removeSession(context: AnyContext): void {
  for (const cookie of cookiesOf(context)) setCookie(context, cookie, "", 0);
}

function setCookie(context: AnyContext, { name, isSecure }: Cookie, value: string, maxAge: number): void {
  const attributes = { path: "/", httpOnly: true, sameSite: "Strict", secure: isSecure, maxAge } as const;
  context.header("set-cookie", serialize(name, value, attributes), { append: true });
}
