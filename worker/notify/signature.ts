// Standard Webhooks signatures (standardwebhooks.com, "Signature scheme").

const PREFIX = "whsec_";

/** A new secret as receivers are given it: `whsec_` and 32 random bytes in base64. */
export const newWebhookSecret = (random: Uint8Array): string => PREFIX + btoa(String.fromCharCode(...random));

/** The headers of one attempt: id, time in unix seconds, and `v1,<base64 HMAC-SHA256 of "id.timestamp.body">`. */
export async function signatureHeaders(
  secret: string,
  id: string,
  timeMs: number,
  body: string,
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(timeMs / 1000));
  const bytes = Uint8Array.from(atob(secret.slice(PREFIX.length)), (char) => char.charCodeAt(0));
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const mac = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`${id}.${timestamp}.${body}`));
  const signature = `v1,${btoa(String.fromCharCode(...new Uint8Array(mac)))}`;
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
}
