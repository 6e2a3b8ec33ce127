// Sends webhooks to a URL on this machine.
import { setTimeout as sleep } from "node:timers/promises";
import { namedFetch } from "../connection/named-fetch.ts";
import { usageError } from "../exit.ts";
import { signedHeaders } from "./signing.ts";

export type Webhook = { readonly id: string; readonly body: string };
/** `status` is null if there was no response in time. */
export type Forwarded = { readonly status: number | null; readonly seconds: number };

export type ForwardOptions = {
  readonly url: string;
  readonly secret: string;
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** Called once if nobody listens at the URL. The webhook waits for a receiver. */
  readonly onWaiting: () => void;
};

const RESPONSE_LIMIT_MS = 30_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5000;

/** Adds `http://` to `localhost:3000/hook` without a scheme. Throws a usage error. */
export function forwardUrl(text: string): string {
  const whole = /^https?:\/\//i.test(text) ? text : `http://${/^\d+(\/|$)/.test(text) ? "localhost:" : ""}${text}`;
  if (!URL.canParse(whole)) throw usageError(`--forward-to must be a URL such as localhost:3000/hook, not "${text}"`);
  return whole;
}

/**
 * Returns the receiver's response. Any response counts as received. Without a connection the webhook is sent again, so
 * that a restart of the receiver loses no webhook.
 */
export async function forward({ id, body }: Webhook, options: ForwardOptions): Promise<Forwarded> {
  const { url, secret, signal, now, onWaiting } = options;
  for (let attempt = 0; ; attempt++) {
    const startedAt = now();
    const limit = AbortSignal.timeout(RESPONSE_LIMIT_MS);
    try {
      const response = await namedFetch(url, {
        method: "POST",
        headers: signedHeaders(id, body, secret, now()),
        body,
        redirect: "manual",
        signal: AbortSignal.any([signal, limit]),
      });
      await response.body?.cancel();
      return { status: response.status, seconds: (now() - startedAt) / 1000 };
    } catch {
      signal.throwIfAborted();
      if (limit.aborted) return { status: null, seconds: (now() - startedAt) / 1000 };
      if (attempt === 0) onWaiting();
      await sleep(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt), undefined, { signal });
    }
  }
}
