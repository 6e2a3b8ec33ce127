// Verifies webhooks (standardwebhooks.com, "Verifying signatures").
import type { NotificationPayload } from "./types/facts.ts";

/** A webhook that the service did not send, or that is too old or too new. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
}

type HeaderValue = string | readonly string[] | undefined;
/** `Headers`, or the headers of Node's `IncomingMessage`. */
export type HeadersLike = { get(name: string): string | null } | Readonly<Record<string, HeaderValue>>;

/** A request whose body was not read yet, or its headers and its unchanged body. */
export type WebhookRequest =
  | { readonly headers: HeadersLike; text(): Promise<string> }
  | { readonly headers: HeadersLike; readonly body: string | Uint8Array };

export type VerifyOptions = {
  /** Maximum distance of the request's time from now, because old requests may be replayed. 300 by default. */
  readonly toleranceSeconds?: number | undefined;
  /** The time, in ms since 1970; now by default. */
  readonly now?: number | undefined;
};

/**
 * The event of a webhook that was signed with any of the secrets (`whsec_…`). Its header `webhook-id` is the same in
 * all attempts, and identifies duplicates. `Payload`: such as UploadPayload for a receiver of upload links. Throws
 * WebhookError.
 */
export async function verifyWebhook<Payload = NotificationPayload>(
  request: WebhookRequest,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, now = Date.now() }: VerifyOptions = {},
): Promise<Payload> {
  const raw = "text" in request ? await request.text() : request.body;
  const body = typeof raw === "string" ? raw : new TextDecoder().decode(raw);
  const [id, sent, signatures] = ["id", "timestamp", "signature"].map((name) => header(request, `webhook-${name}`));
  if (!id || !sent || !signatures) throw new WebhookError("The request has no signature");
  if (!(Math.abs(now / 1000 - Number(sent)) <= toleranceSeconds))
    throw new WebhookError("The signature is too old or too new");
  const signed = new TextEncoder().encode(`${id}.${sent}.${body}`);
  for (const secret of [secrets].flat()) {
    for (const signature of signatures.split(" ")) {
      if (await isSigned(signed, signature, secret)) return JSON.parse(body);
    }
  }
  throw new WebhookError("The signature is not valid");
}

function header({ headers }: WebhookRequest, name: string): string | undefined {
  const value = typeof headers.get === "function" ? headers.get(name) : (headers as Record<string, HeaderValue>)[name];
  return typeof value === "string" ? value : undefined;
}

/** Compares in constant time, as WebCrypto does. */
async function isSigned(signed: Uint8Array<ArrayBuffer>, signature: string, secret: string): Promise<boolean> {
  const [version, mac = ""] = signature.split(",");
  if (version !== "v1") return false;
  try {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", bytes(secret.replace(/^whsec_/, "")), algorithm, false, [
      "verify",
    ]);
    return await crypto.subtle.verify("HMAC", key, bytes(mac), signed);
  } catch {
    return false;
  }
}

const bytes = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
