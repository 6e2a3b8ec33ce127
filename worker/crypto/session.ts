// Sessions of browsers, as sealed text: digests of credentials, never the credentials.
import * as z from "zod";
import { hex } from "./bytes.ts";
import { type SealingKeys, seal, unseal } from "./sealed-secret.ts";

const Session = z.object({
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

const CONTEXT = "browser session";
/** Longer texts are not ours. */
const MAX_CHARS = 1024;

export const sealSession = (session: Session, keys: SealingKeys): Promise<string> =>
  seal(JSON.stringify(session), CONTEXT, keys);

/** The session of a text; null if none of the keys sealed it, or if it has expired. */
export async function unsealSession(text: string, keys: SealingKeys, now: number): Promise<Session | null> {
  if (text.length > MAX_CHARS) return null;
  try {
    const session = Session.parse(JSON.parse(await unseal(text, CONTEXT, keys)));
    return session.expiresAt > now ? session : null;
  } catch {
    // Anybody can send a cookie.
    return null;
  }
}

/** SHA-256 of a text, in hex, with what it is for. */
export const purposeDigest = async (purpose: string, text: string): Promise<string> =>
  hex(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${purpose}|${text}`)));
