// Takes the webhooks of a local system and says of each whether it was signed with the account's secret.
import type { IncomingMessage } from "node:http";
import { type LoopbackServer, serveLoopback } from "./loopback-server.ts";
import { isSigned } from "./webhook-signature.ts";

export type Webhook = { readonly event: string; readonly jobId: string; readonly signed: boolean };

/** POSTs to the server's origin are handed to `taken` and answered with 200. */
export const openInbox = (secret: string, taken: (webhook: Webhook) => void): Promise<LoopbackServer> =>
  serveLoopback((request, response) => {
    readBody(request).then(
      (body) => {
        const { event, job_id: jobId } = asObject(body);
        taken({
          event: String(event),
          jobId: String(jobId),
          signed: isSigned(request.headers, body, secret, Date.now()),
        });
        response.end("{}");
      },
      () => response.destroy(),
    );
  });

/** The raw bytes: signatures are over these, not over what a parser makes of them. */
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
