// Receives webhooks and verifies their signatures (Standard Webhooks). It needs only Node.
// Usage: COPRA_WEBHOOK_SECRET=whsec_… PORT=3000 node examples/verify-webhook.ts
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { env } from "node:process";

const TOLERANCE_S = 5 * 60;
const key = Buffer.from((env.COPRA_WEBHOOK_SECRET ?? "").replace(/^whsec_/, ""), "base64");
// With an empty key anybody could sign webhooks.
if (key.length < 16) throw new Error("Set COPRA_WEBHOOK_SECRET to the secret that signs webhooks: whsec_…");

/** True if the service signed this body within the last minutes. `body` must be the raw bytes, before any parser. */
function isValid(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = headers;
  // An old timestamp means that somebody repeats a recorded request.
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < TOLERANCE_S)) return false;
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  // After a rotation of the secret, each webhook has two signatures for a day.
  return String(signatures)
    .split(" ")
    .some((signature) => {
      const bytes = Buffer.from(signature.replace(/^v1,/, ""), "base64");
      return bytes.length === expected.length && timingSafeEqual(bytes, expected);
    });
}

/** Deliveries are repeated until they get a 2xx. The id stays the same, so that each event is handled once. */
const handled = new Set<string>();

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  if (!isValid(request.headers, body)) {
    console.log("rejected: the signature is not valid");
    response.writeHead(401).end();
    return;
  }
  const id = String(request.headers["webhook-id"]);
  const { job_id, event } = JSON.parse(body.toString());
  if (!handled.has(id)) console.log(`${event} of job ${job_id}`);
  handled.add(id);
  response.writeHead(204).end();
});
server.listen(Number(env.PORT ?? 3000), () => console.log(`listening on ${JSON.stringify(server.address())}`));
