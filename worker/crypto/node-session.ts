// Node sessions: the stored data of a node's token, signed, so that the node reconnects without a database query.
import * as z from "zod";
import { isSame, keyedDigest } from "./keyed-digest.ts";
import type { SealingKeys } from "./sealed-secret.ts";

export const NodeSession = z.object({
  /** The token's id, its pool and its labels. */
  token: z.string(),
  pool: z.string(),
  labels: z.array(z.string()),
  /** The session is valid for this node only, together with the token: it contains the start of the token's digest. */
  nodeId: z.string(),
  digest: z.string(),
  /** ms since 1970. */
  expiresAt: z.number(),
});
export type NodeSession = z.infer<typeof NodeSession>;

/** Signs a session with the newest key. */
export function signSession(session: NodeSession, [key]: SealingKeys): string {
  const payload = toBase64Url(JSON.stringify(session));
  return `${payload}.${signatureOf(payload, key)}`;
}

/** The session of a signed text; null if none of the keys signed it, or if it has expired. */
export function readSession(text: string, keys: SealingKeys, now: number): NodeSession | null {
  const [payload = "", signature = ""] = text.split(".");
  if (!keys.some((key) => isSame(signatureOf(payload, key), signature))) return null;
  const session = NodeSession.parse(JSON.parse(fromBase64Url(payload)));
  return session.expiresAt > now ? session : null;
}

const signatureOf = (payload: string, key: SealingKeys[number] | undefined): string =>
  keyedDigest("copra node session 1", payload, key);

const toBase64Url = (text: string): string =>
  btoa(String.fromCharCode(...new TextEncoder().encode(text)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
const fromBase64Url = (text: string): string => {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return new TextDecoder().decode(Uint8Array.from(binary, (char) => char.charCodeAt(0)));
};
