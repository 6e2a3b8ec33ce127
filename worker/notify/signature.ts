// Standard Webhooks signatures (standardwebhooks.com, "Signature scheme").

const PREFIX = "whsec_";

/** A new secret in the form that receivers get: `whsec_` and 32 random bytes in base64. */
export const newWebhookSecret = (random: Uint8Array): string => PREFIX + btoa(String.fromCharCode(...random));

/**
 * The headers of an attempt: id, time in unix seconds, and for each secret `v1,<base64 HMAC-SHA256 of
 * "id.timestamp.body">`, separated by spaces. A request is valid if any of its signatures is valid.
 */
export async function signatureHeaders(
  secrets: readonly string[],
  id: string,
  timeMs: number,
  body: string,
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(timeMs / 1000));
  const signatures = await Promise.all(secrets.map((secret) => sign(secret, `${id}.${timestamp}.${body}`)));
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}

async function sign(secret: string, text: string): Promise<string> {
  const bytes = Uint8Array.from(atob(secret.slice(PREFIX.length)), (char) => char.charCodeAt(0));
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const mac = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text));
  return `v1,${btoa(String.fromCharCode(...new Uint8Array(mac)))}`;
}
