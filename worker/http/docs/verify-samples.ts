// Sample code for receivers to verify a notification.

export const VERIFY_IN_NODE = `import { createHmac, timingSafeEqual } from "node:crypto";

export function isSigned(headers, body, secret) {
  const id = headers["webhook-id"], sent = headers["webhook-timestamp"], given = headers["webhook-signature"];
  // Rejects old requests, which may be replayed by an attacker.
  if (!(Math.abs(Date.now() / 1000 - Number(sent)) <= 300)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const mac = createHmac("sha256", key).update(\`\${id}.\${sent}.\`).update(body).digest("base64");
  const wanted = Buffer.from(\`v1,\${mac}\`);
  return String(given).split(" ").some((one) => {
    const other = Buffer.from(one);
    return other.length === wanted.length && timingSafeEqual(other, wanted);
  });
}`;

export const VERIFY_IN_PYTHON = `import base64, hashlib, hmac, time

def is_signed(headers, body: bytes, secret: str) -> bool:
    ident, sent = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(sent)) > 300:  # reject old requests, which may be replayed
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.new(key, f"{ident}.{sent}.".encode() + body, hashlib.sha256).digest()
    wanted = "v1," + base64.b64encode(mac).decode()
    return any(hmac.compare_digest(wanted, given) for given in headers["webhook-signature"].split())`;
