// Receives the webhooks of a local system and checks their signatures.
import type { IncomingMessage } from "node:http";
import { verifyWebhook } from "../../client/webhook.ts";
import { type LoopbackServer, serveLoopback } from "./loopback-server.ts";

export type Webhook = { readonly event: string; readonly jobId: string; readonly signed: boolean };

/** Passes each POST to `onWebhook` and responds with 200. */
export const openInbox = (secret: string, onWebhook: (webhook: Webhook) => void): Promise<LoopbackServer> =>
  serveLoopback(async (request, response) => {
    const body = await readBody(request).catch(() => null);
    if (!body) return response.destroy();
    const { event, job_id: jobId } = asObject(body);
    const signed = await verifyWebhook({ headers: request.headers, body }, secret).then(
      () => true,
      () => false,
    );
    onWebhook({ event: String(event), jobId: String(jobId), signed });
    return response.end("{}");
  });

/** The raw bytes of a body, which the signature covers. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function asObject(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
