// Receives the webhooks of a local system and checks their signatures.
import type { IncomingMessage } from "node:http";
import { type LoopbackServer, serveLoopback } from "./loopback-server.ts";
import { isSigned } from "./webhook-signature.ts";

export type Webhook = { readonly event: string; readonly jobId: string; readonly signed: boolean };

/** Passes each POST to `onWebhook` and responds with 200. */
export const openInbox = (secret: string, onWebhook: (webhook: Webhook) => void): Promise<LoopbackServer> =>
  serveLoopback((request, response) => {
    readBody(request).then(
      (body) => {
        const { event, job_id: jobId } = asObject(body);
        onWebhook({
          event: String(event),
          jobId: String(jobId),
          signed: isSigned(request.headers, body, secret, Date.now()),
        });
        response.end("{}");
      },
      () => response.destroy(),
    );
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
