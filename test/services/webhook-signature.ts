// Verifies a webhook's signature as a receiver should (standardwebhooks.com, "Verifying signatures").
import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

const TOLERANCE_S = 5 * 60;

/** True if `body` was signed with `secret` (`whsec_…`) within the last minutes. */
export function isSigned(headers: IncomingHttpHeaders, body: Buffer, secret: string, nowMs: number): boolean {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = headers;
  if (typeof id !== "string" || typeof timestamp !== "string" || typeof signatures !== "string") return false;
  if (!(Math.abs(nowMs / 1000 - Number(timestamp)) <= TOLERANCE_S)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  return signatures.split(" ").some((signature) => {
    const [version, encoded] = signature.split(",");
    const bytes = Buffer.from(encoded ?? "", "base64");
    return version === "v1" && bytes.length === expected.length && timingSafeEqual(bytes, expected);
  });
}
