// Messages that Amazon SNS sends to an HTTPS endpoint: verifies their signatures, and confirms subscriptions (SNS
// Developer Guide, "Verifying the signatures of Amazon SNS messages").
import { X509Certificate } from "node:crypto";
import * as z from "zod";
import { AppError } from "#shared/errors.ts";
import { fetchWithin } from "../../http-client/fetch-within.ts";
import { readLimited } from "../../http-client/read-limited.ts";

const common = {
  MessageId: z.string(),
  TopicArn: z.string(),
  Message: z.string(),
  Timestamp: z.string(),
  SignatureVersion: z.enum(["1", "2"]),
  Signature: z.base64(),
  /** Only SNS can publish below these hosts (SNS Developer Guide). */
  SigningCertURL: z
    .string()
    .regex(/^https:\/\/sns\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?\/SimpleNotificationService-[0-9a-f]+\.pem$/),
};
const Notification = z.object({ Type: z.literal("Notification"), Subject: z.string().nullish(), ...common });
const Confirmation = z.object({
  Type: z.enum(["SubscriptionConfirmation", "UnsubscribeConfirmation"]),
  Token: z.string(),
  SubscribeURL: z.string().regex(/^https:\/\/sns\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?\/\?Action=ConfirmSubscription&/),
  ...common,
});
const SnsMessage = z.discriminatedUnion("Type", [Notification, Confirmation]);
type SnsMessage = z.infer<typeof SnsMessage>;

/** True for a body that only SNS sends. */
export const isSnsMessage = (body: unknown): boolean =>
  z.object({ Type: z.string(), TopicArn: z.string(), SigningCertURL: z.string() }).safeParse(body).success;

/**
 * Verifies a message and returns the text of a notification. Confirms a new subscription and returns null. Throws
 * AppError(event_not_valid | service_unavailable).
 */
export async function openSnsMessage(body: unknown): Promise<string | null> {
  const parsed = SnsMessage.safeParse(body);
  if (!parsed.success) throw refused("is not valid");
  const message = parsed.data;
  const key = await signingKey(message);
  const signature = Uint8Array.from(atob(message.Signature), (char) => char.charCodeAt(0));
  const signed = new TextEncoder().encode(signedText(message));
  if (!(await crypto.subtle.verify("RSASSA-PKCS1-v1_5", key, signature, signed)))
    throw refused("has a wrong signature");
  if (message.Type === "Notification") return message.Message;
  if (message.Type === "SubscriptionConfirmation") await get(message.SubscribeURL);
  return null;
}

const refused = (why: string): AppError => new AppError("event_not_valid", `The message of Amazon SNS ${why}`);

/** Names and values in alphabetical order, each followed by a line feed. */
function signedText(message: SnsMessage): string {
  const names =
    message.Type === "Notification"
      ? ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"]
      : ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
  const fields: Readonly<Record<string, unknown>> = message;
  return names.flatMap((name) => (typeof fields[name] === "string" ? `${name}\n${fields[name]}\n` : [])).join("");
}

async function signingKey({ SigningCertURL, SignatureVersion }: SnsMessage): Promise<CryptoKey> {
  const pem = await get(SigningCertURL);
  try {
    const { publicKey, validFrom, validTo } = new X509Certificate(pem);
    if (!(Date.parse(validFrom) <= Date.now() && Date.now() <= Date.parse(validTo))) throw new Error("expired");
    const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: SignatureVersion === "1" ? "SHA-1" : "SHA-256" };
    return await crypto.subtle.importKey("spki", publicKey.export({ type: "spki", format: "der" }), algorithm, false, [
      "verify",
    ]);
  } catch {
    throw refused("has a certificate that is not valid");
  }
}

const LIMIT_MS = 5000;
const MAX_BYTES = 64 * 1024;

/** Throws AppError(service_unavailable): SNS then sends the message again. */
async function get(url: string): Promise<string> {
  try {
    return await fetchWithin(LIMIT_MS, new Request(url), async (response) => {
      if (response.status !== 200) throw new Error(`HTTP ${response.status}`);
      return new TextDecoder().decode(await readLimited(response.body, MAX_BYTES));
    });
  } catch (cause) {
    throw new AppError("service_unavailable", "Amazon SNS could not be reached; try again later", { cause });
  }
}
