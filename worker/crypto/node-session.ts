// Node sessions: the stored data of a node's token, signed, so that the node reconnects without a database query.
import { createHmac } from "node:crypto";
import * as z from "zod";
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
export function signSession(session: NodeSession, keys: SealingKeys): string {
  const key = keys[0];
  if (!key) throw new Error("SEALING_KEYS is empty");
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

/** Derives a key for this purpose first, so that a signature reveals nothing about the sealing key. */
function signatureOf(payload: string, { bytes }: SealingKeys[number]): string {
  const key = createHmac("sha256", bytes).update("copra node session 1").digest();
  return createHmac("sha256", key).update(payload).digest("hex");
}

/** Compares two signatures in constant time. */
export function isSame(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}

const toBase64Url = (text: string): string =>
  btoa(String.fromCharCode(...new TextEncoder().encode(text)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
const fromBase64Url = (text: string): string => {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return new TextDecoder().decode(Uint8Array.from(binary, (char) => char.charCodeAt(0)));
};
