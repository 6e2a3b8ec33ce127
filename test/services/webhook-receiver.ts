// Records the webhooks that a stack sends, and can reject the first webhooks.
import type { IncomingHttpHeaders } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { serveLoopback } from "../../local/demo/loopback-server.ts";
import { readBody } from "../../local/demo/webhook-inbox.ts";
import { PATIENCE_MS } from "../patience-ms.ts";

export type ReceivedWebhook = {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The bytes as they arrived; signatures cover them. */
  readonly raw: Buffer;
  /** The parsed `raw`; null if it is not a JSON object. */
  readonly body: Record<string, unknown> | null;
  /** The receiver's answer. */
  readonly status: number;
  readonly at: number;
};

export type WebhookReceiver = {
  readonly url: string;
  /** All webhooks in order of arrival, including rejected webhooks. */
  readonly received: readonly ReceivedWebhook[];
  /** Accepted webhooks in order of arrival, without duplicates: webhooks are delivered at least once. */
  events(): readonly ReceivedWebhook[];
  /** Rejects the next `times` webhooks with `status`. */
  failNext(times: number, status?: number): void;
  /** Waits for an accepted webhook that `fits`, or returns it at once if it has arrived. */
  waitFor(fits: (webhook: ReceivedWebhook) => boolean, timeoutMs?: number): Promise<ReceivedWebhook>;
  close(): Promise<void>;
};

const LOOK_EVERY_MS = 50;

/** Listens on a free loopback port. */
export async function startWebhookReceiver(options: { failFirst?: number } = {}): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const refusing = { times: options.failFirst ?? 0, status: 503 };
  const server = await serveLoopback((request, response) => {
    readBody(request).then(
      (raw) => {
        const status = refusing.times > 0 ? refusing.status : 200;
        refusing.times = Math.max(0, refusing.times - 1);
        const { method = "", url = "", headers } = request;
        received.push({ method, path: url, headers, raw, body: parse(raw), status, at: Date.now() });
        response.writeHead(status).end("{}");
      },
      () => response.destroy(),
    );
  });
  return {
    url: `${server.origin}/webhook`,
    received,
    events() {
      const accepted = received.filter(({ status }) => status === 200);
      return [...new Map(accepted.map((webhook) => [webhook.headers["webhook-id"], webhook])).values()];
    },
    failNext(times, status = 503) {
      refusing.times = times;
      refusing.status = status;
    },
    async waitFor(fits, timeoutMs = PATIENCE_MS) {
      const deadline = Date.now() + timeoutMs;
      for (;;) {
        const match = received.find((webhook) => webhook.status === 200 && fits(webhook));
        if (match) return match;
        if (Date.now() > deadline) throw new Error(`No such webhook within ${timeoutMs} ms; ${received.length} came`);
        await sleep(LOOK_EVERY_MS);
      }
    },
    close: server.close,
  };
}

function parse(raw: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(raw.toString());
    return typeof value === "object" && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}
