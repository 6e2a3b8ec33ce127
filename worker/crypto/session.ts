// Browser sessions as sealed text. They contain digests of credentials, never the credentials.
import * as z from "zod";
import { hex } from "./bytes.ts";
import { type SealingKeys, seal, unseal } from "./sealed-secret.ts";

const Session = z.object({
  /** Random id, so that signing out ends only this session. */
  id: z.string(),
  /** Digest of the API key, as the database stores it. */
  key: z.string().nullable(),
  /** Digest of the admin token. */
  admin: z.string().nullable(),
  /** The account that the operator sees first. */
  account: z.string().nullable(),
  /** ms since 1970. */
  expiresAt: z.number(),
});
export type Session = z.infer<typeof Session>;

/** The use of a sealed session: a browser's cookie, or the one-time link with this digest. */
export type SessionUse = "cookie" | { readonly link: string };

// A sealed link must never pass as a cookie: readers of the database could use it.
const contextOf = (use: SessionUse): string => (use === "cookie" ? "browser session" : `session link ${use.link}`);

/** The service never makes longer texts. */
const MAX_CHARS = 1024;

export const sealSession = (session: Session, use: SessionUse, keys: SealingKeys): Promise<string> =>
  seal(JSON.stringify(session), contextOf(use), keys);

/** The session of a text; null if it was sealed for another use or with another key, or if it has expired. */
export async function unsealSession(
  text: string,
  use: SessionUse,
  { keys, now }: { readonly keys: SealingKeys; readonly now: number },
): Promise<Session | null> {
  if (text.length > MAX_CHARS) return null;
  try {
    const session = Session.parse(JSON.parse(await unseal(text, contextOf(use), keys)));
    return session.expiresAt > now ? session : null;
  } catch {
    // Anybody can send a cookie.
    return null;
  }
}

/** SHA-256 of a purpose and a text, in hex. */
export const purposeDigest = async (purpose: string, text: string): Promise<string> =>
  hex(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${purpose}|${text}`)));
