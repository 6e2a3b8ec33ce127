// Sessions of browsers, as sealed text: digests of credentials, never the credentials.
import * as z from "zod";
import { hex } from "./bytes.ts";
import { type SealingKeys, seal, unseal } from "./sealed-secret.ts";

const Session = z.object({
  /** Random, by which signing out ends this session alone. */
  id: z.string(),
  /** The digest of an API key, as the database has it. */
  key: z.string().nullable(),
  /** The digest of the admin token. */
  admin: z.string().nullable(),
  /** The account that the operator looks at first. */
  account: z.string().nullable(),
  /** ms since 1970. */
  expiresAt: z.number(),
});
export type Session = z.infer<typeof Session>;

/** What a sealed session is for: the cookie of a browser, or the one-time link with this digest. */
export type SessionUse = "cookie" | { readonly link: string };

// One must never pass as the other: who can read the database would have cookies.
const contextOf = (use: SessionUse): string => (use === "cookie" ? "browser session" : `session link ${use.link}`);

/** Longer texts are not ours. */
const MAX_CHARS = 1024;

export const sealSession = (session: Session, use: SessionUse, keys: SealingKeys): Promise<string> =>
  seal(JSON.stringify(session), contextOf(use), keys);

/** The session of a text; null if it was sealed for another use or with none of the keys, or if it has expired. */
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

/** SHA-256 of a text, in hex, with what it is for. */
export const purposeDigest = async (purpose: string, text: string): Promise<string> =>
  hex(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${purpose}|${text}`)));
