// Webhooks: test an endpoint, send a notification again.
import type { Caller, CallOptions } from "../http/caller.ts";
import type { Delivery } from "../types/api.ts";
import type { NewWebhookSecret, TestedEndpoint } from "../types/facts.ts";

export class Notifications {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Sends a signed test event to a URL, and returns what it answered. */
  test(url: string, options?: CallOptions): Promise<TestedEndpoint> {
    return this.#caller.json("/v2/notifications/test", { ...options, method: "POST", json: { url } });
  }

  /** Sends a notification of a job again, with the same id and body, to its URL or to another one. */
  replay(
    jobId: string,
    id: string,
    { url, ...options }: CallOptions & { readonly url?: string } = {},
  ): Promise<Delivery> {
    const path = `/v2/jobs/${encodeURIComponent(jobId)}/notifications/${encodeURIComponent(id)}/replay`;
    return this.#caller.json(path, { ...options, method: "POST", ...(url === undefined ? {} : { json: { url } }) });
  }

  /** Replaces the secret that signs webhooks; the previous one signs too for 24 hours. */
  rotateSecret(options?: CallOptions): Promise<NewWebhookSecret> {
    return this.#caller.json("/v2/account/webhook-secret", { ...options, method: "POST" });
  }
}
