// Client for an account.
import { Jobs } from "./calls/jobs.ts";
import { Notifications } from "./calls/notifications.ts";
import { Probes } from "./calls/probes.ts";
import { Storages } from "./calls/storages.ts";
import { Templates } from "./calls/templates.ts";
import { UploadLinks } from "./calls/upload-links.ts";
import { Uploads } from "./calls/uploads.ts";
import { Caller, type CallOptions, type Fetch } from "./http/caller.ts";
import { eventsOf } from "./http/event-stream.ts";
import type { AuditList, FontList, Health, Ready, Session, SessionLink, Usage } from "./types/api.ts";
import type { AccountEvent, AuditQuery } from "./types/facts.ts";

export type CopraOptions = {
  /** The service, such as `https://copra.example.com`. */
  readonly url: string;
  /** The API key of the account. Leave it out if a browser session is the credential. */
  readonly key?: string | undefined;
  /** Replaces the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** Number of retries of a failed request; 4 by default. */
  readonly retries?: number | undefined;
};

export type EventOptions = CallOptions & {
  /** Continues after the event with this id. */
  readonly lastEventId?: string | undefined;
  /** Called after a lost connection, before the client reconnects. */
  readonly onReconnect?: ((error: unknown) => void) | undefined;
  /**
   * Replaces a connection that is silent for longer; 45 by default. The service sends a sign of life every 15 seconds.
   */
  readonly silenceSeconds?: number | undefined;
};

/** A client for an account. All methods throw CopraError when a request fails. */
export class Copra {
  readonly jobs: Jobs;
  readonly templates: Templates;
  readonly storages: Storages;
  readonly probes: Probes;
  readonly uploads: Uploads;
  readonly uploadLinks: UploadLinks;
  readonly notifications: Notifications;
  readonly #caller: Caller;

  constructor({ url, key, fetch, retries }: CopraOptions) {
    this.#caller = new Caller(url, key === undefined ? undefined : `Basic ${btoa(`${key}:`)}`, fetch, retries);
    this.jobs = new Jobs(this.#caller);
    this.templates = new Templates(this.#caller);
    this.storages = new Storages(this.#caller);
    this.probes = new Probes(this.#caller);
    this.uploads = new Uploads(this.#caller);
    this.uploadLinks = new UploadLinks(this.#caller);
    this.notifications = new Notifications(this.#caller);
  }

  /**
   * The account's usage per day (UTC, `YYYY-MM-DD`); the last 30 days by default. `by` adds the usage by the values of
   * a tag, such as `tag.tenant`.
   */
  usage(
    range: { readonly from?: string; readonly to?: string; readonly by?: string } = {},
    options?: CallOptions,
  ): Promise<Usage> {
    return this.#caller.json("/v2/usage", { ...options, query: range });
  }

  /** A page of the account's changes, newest first. */
  audit(query: AuditQuery = {}, options?: CallOptions): Promise<AuditList> {
    return this.#caller.json("/v2/audit", { ...options, query });
  }

  /** Names of fonts for burnt-in captions. */
  fonts(options?: CallOptions): Promise<FontList> {
    return this.#caller.json("/v2/fonts", { ...options });
  }

  /** The events of all jobs of the account, from now on. Reconnects without losing events. It never ends by itself. */
  async *events(options?: EventOptions): AsyncGenerator<AccountEvent> {
    for await (const { id, event, data } of eventsOf(this.#caller, "/v2/events", options)) {
      yield { id, event, data: JSON.parse(data) } as AccountEvent;
    }
  }

  /** The account of the API key. */
  session(options?: CallOptions): Promise<Session> {
    return this.#caller.json("/v2/session", options);
  }

  /** A link that signs a browser in to the dashboard with this key. It is valid once, for a minute. */
  dashboardLink(options?: CallOptions): Promise<SessionLink> {
    return this.#caller.json("/v2/session/links", { ...options, method: "POST" });
  }

  health(options?: CallOptions): Promise<Health> {
    return this.#caller.json("/v2/health", options);
  }

  /** Returns if the service can do its work. Otherwise throws CopraError with the reasons, after the usual retries. */
  ready(options?: CallOptions): Promise<Ready> {
    return this.#caller.json("/v2/health/ready", options);
  }
}
