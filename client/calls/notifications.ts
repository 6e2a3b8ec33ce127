// Webhooks: test an endpoint, send a notification again.
import type { Caller, CallOptions } from "../http/caller.ts";
import type { Delivery, EndpointResult, NotificationTest, RotatedSecret } from "../types/api.ts";

export class Notifications {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Sends a signed example of an event to a URL, and returns the URL's response. */
  test(
    url: string,
    { event, ...options }: CallOptions & Pick<NotificationTest, "event"> = {},
  ): Promise<EndpointResult> {
    return this.#caller.json("/v2/notifications/test", { ...options, method: "POST", json: { url, event } });
  }

  /**
   * Sends a notification of a job again, with the same id and body. With a `url` it is sent once, to that URL, and
   * `response` is the URL's response.
   */
  replay(
    jobId: string,
    id: string,
    { url, ...options }: CallOptions & { readonly url?: string } = {},
  ): Promise<Delivery> {
    const path = `/v2/jobs/${encodeURIComponent(jobId)}/notifications/${encodeURIComponent(id)}/replay`;
    return this.#caller.json(path, { ...options, method: "POST", ...(url === undefined ? {} : { json: { url } }) });
  }

  /** Replaces the secret that signs webhooks. The previous secret also signs them for 24 hours. */
  rotateSecret(options?: CallOptions): Promise<RotatedSecret> {
    return this.#caller.json("/v2/account/webhook-secret", { ...options, method: "POST" });
  }
}
