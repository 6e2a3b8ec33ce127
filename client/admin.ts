// Client for the operator: accounts, keys, node tokens and nodes.
import { Caller, type CallOptions, type Fetch } from "./http/caller.ts";
import type {
  AccountLimits,
  AccountList,
  Alert,
  AlertList,
  AuditList,
  Autoscale,
  EndpointResult,
  KeyList,
  KeyOptions,
  Limits,
  NewAccount,
  NewAlert,
  NewKey,
  NewNodeToken,
  NodeDetails,
  NodeHistory,
  NodeList,
  NodeToken,
  NodeTokenList,
  Resealed,
  Revoked,
  RotatedSecret,
  SessionLink,
} from "./types/api.ts";
import type { AuditQuery } from "./types/facts.ts";

export type AdminOptions = {
  /** The service, such as `https://copra.example.com`. */
  readonly url: string;
  /**
   * The admin token. For `autoscale` and `metrics`, METRICS_TOKEN is enough. Leave it out if a browser session is the
   * credential.
   */
  readonly token?: string | undefined;
  readonly fetch?: Fetch | undefined;
  readonly retries?: number | undefined;
};

const part = encodeURIComponent;

/** A client for the operator. All methods throw CopraError when a request fails. */
export class CopraAdmin {
  readonly #caller: Caller;

  constructor({ url, token, fetch, retries }: AdminOptions) {
    this.#caller = new Caller(url, token === undefined ? undefined : `Bearer ${token}`, fetch, retries);
  }

  readonly accounts = {
    create: (name: string, options?: CallOptions) => this.#post<NewAccount>("/accounts", options, { name }),
    list: async (options?: CallOptions) => (await this.#get<AccountList>("/accounts", options)).accounts,
    setLimits: (id: string, limits: Limits, options?: CallOptions) =>
      this.#post<AccountLimits>(`/accounts/${part(id)}/limits`, options, limits),
    rotateWebhookSecret: (id: string, options?: CallOptions) =>
      this.#post<RotatedSecret>(`/accounts/${part(id)}/rotate-secret`, options),
  };

  /** API keys of accounts. */
  readonly keys = {
    /**
     * Creates a key. Without `scopes` it has all rights of the account, and without `expires_at` it does not expire.
     */
    create: (account: string, { signal, ...key }: CallOptions & KeyOptions = {}) =>
      this.#post<NewKey>(`/accounts/${part(account)}/keys`, { signal }, key),
    list: async (account: string, options?: CallOptions) =>
      (await this.#get<KeyList>(`/accounts/${part(account)}/keys`, options)).keys,
    revoke: (id: string, options?: CallOptions) => this.#delete<Revoked>(`/keys/${part(id)}`, options),
  };

  readonly nodeTokens = {
    create: (token: NodeToken, options?: CallOptions) => this.#post<NewNodeToken>("/node-tokens", options, token),
    list: async (options?: CallOptions) => (await this.#get<NodeTokenList>("/node-tokens", options)).node_tokens,
    revoke: (id: string, options?: CallOptions) => this.#delete<Revoked>(`/node-tokens/${part(id)}`, options),
  };

  readonly nodes = {
    list: async (options?: CallOptions) => (await this.#get<NodeList>("/nodes", options)).nodes,
    get: (id: string, options?: CallOptions) => this.#get<NodeDetails>(`/nodes/${part(id)}`, options),
    /** Busy slots and speed in the last 24 hours. */
    history: (id: string, options?: CallOptions) => this.#get<NodeHistory>(`/nodes/${part(id)}/history`, options),
    cordon: (id: string, options?: CallOptions) => this.#repeat<NodeDetails>(`/nodes/${part(id)}/cordon`, options),
    uncordon: (id: string, options?: CallOptions) => this.#repeat<NodeDetails>(`/nodes/${part(id)}/uncordon`, options),
    /** Drains the node: it finishes its tasks and then ends. */
    drain: (id: string, options?: CallOptions) => this.#repeat<NodeDetails>(`/nodes/${part(id)}/drain`, options),
    /** Removes a node that is not connected from the list. */
    forget: (id: string, options?: CallOptions) => this.#delete<NodeDetails>(`/nodes/${part(id)}`, options),
  };

  /** Rules that send messages to the operator. */
  readonly alerts = {
    list: async (options?: CallOptions) => (await this.#get<AlertList>("/alerts", options)).alerts,
    get: (name: string, options?: CallOptions) => this.#get<Alert>(`/alerts/${part(name)}`, options),
    /** Creates or replaces an alert. */
    put: (name: string, alert: NewAlert, options?: CallOptions): Promise<Alert> =>
      this.#caller.json(`/v2/admin/alerts/${part(name)}`, { ...options, method: "PUT", json: alert }),
    delete: (name: string, options?: CallOptions) => this.#delete<Alert>(`/alerts/${part(name)}`, options),
    /** Sends a message at once, and returns the response of the receiver. */
    test: (name: string, options?: CallOptions) => this.#post<EndpointResult>(`/alerts/${part(name)}/test`, options),
  };

  /**
   * Encrypts some of the stored secrets with the newest key. Repeat it with `next_cursor` until `next_cursor` is null.
   */
  reseal(cursor: string | null = null, options?: CallOptions): Promise<Resealed> {
    return this.#caller.json("/v2/admin/reseal", { ...options, method: "POST", json: { cursor }, repeatable: true });
  }

  /**
   * A link that signs a browser in to the dashboard as the operator. It opens `account` first, and is valid once, for a
   * minute.
   */
  dashboardLink(account?: string, options?: CallOptions): Promise<SessionLink> {
    return this.#caller.json("/v2/session/links", { ...options, method: "POST", json: { account } });
  }

  /** A page of the changes in all accounts and of the service, newest first. */
  audit(query: AuditQuery = {}, options?: CallOptions): Promise<AuditList> {
    return this.#caller.json("/v2/admin/audit", { ...options, query });
  }

  /** Running and waiting work. */
  autoscale(options?: CallOptions): Promise<Autoscale> {
    return this.#caller.json("/v2/autoscale", options);
  }

  /** Metrics in the text format of Prometheus. */
  metrics(options?: CallOptions): Promise<string> {
    return this.#caller.send("/metrics", options, (response) => response.text());
  }

  #get<Body>(path: string, options?: CallOptions): Promise<Body> {
    return this.#caller.json(`/v2/admin${path}`, options);
  }

  #post<Body>(path: string, options?: CallOptions, json?: unknown): Promise<Body> {
    return this.#caller.json(`/v2/admin${path}`, { ...options, method: "POST", json });
  }

  #repeat<Body>(path: string, options?: CallOptions): Promise<Body> {
    return this.#caller.json(`/v2/admin${path}`, { ...options, method: "POST", repeatable: true });
  }

  #delete<Body>(path: string, options?: CallOptions): Promise<Body> {
    return this.#caller.json(`/v2/admin${path}`, { ...options, method: "DELETE" });
  }
}
