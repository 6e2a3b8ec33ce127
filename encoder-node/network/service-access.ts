// The service's own storages, as this node reaches them. They are tested before the node takes work. They are allowed
// for URLs that the service has signed, although their addresses may be private.
import { type Agent, request } from "undici";
import { backoffMs } from "#shared/backoff.ts";
import { AppError } from "#shared/errors.ts";
import { type Logger, messageOf } from "#shared/log.ts";
import { type AllowPrivate, withSigned } from "#shared/network/address-policy.ts";
import { connectionFailureOf } from "#shared/network/storage-connection.ts";
import type { ServiceOrigin } from "#shared/protocol/frames.ts";
import { NODE_USER_AGENT } from "#shared/version.ts";
import { guardedAgent } from "./address-guard.ts";

export type ServiceAccessOptions = {
  /** The node's policy for URLs of clients. */
  readonly allow: AllowPrivate;
  /** The URL of the control plane, as the operator gave it to this node. */
  readonly url: string;
  readonly log: Logger;
  /** Called when `notReady` has changed. */
  readonly changed: () => void;
};

const TEST_LIMIT_MS = 5000;
const RETRY = { firstMs: 2000, maxMs: 60_000 };
const UNTESTED = ["It has not yet tested whether it reaches the service's storages"];

export class ServiceAccess {
  /** The policy for URLs that the service has signed. */
  readonly allow: AllowPrivate;
  /** The agent for uploads to the service itself. */
  readonly storages: Agent;
  readonly #options: ServiceAccessOptions;
  /** Part of `allow`. */
  readonly #origins: string[] = [];
  #notReady: readonly string[] = UNTESTED;
  /** The origins of the last test, as text; null before there is one. */
  #tested: string | null = null;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: ServiceAccessOptions) {
    this.#options = options;
    this.allow = withSigned(options.allow, this.#origins);
    this.storages = guardedAgent({ allow: this.allow, refuse: unknownOrigin });
  }

  /** The reasons why the node cannot do the service's work, one sentence each; none if it can. */
  get notReady(): readonly string[] {
    return this.#notReady;
  }

  /** Receives the service's origins, which the hub states at each connection. Tests new origins. */
  welcome(service: readonly ServiceOrigin[]): void {
    const text = JSON.stringify(service);
    if (text === this.#tested) return;
    this.#tested = text;
    this.#origins.splice(0, Infinity, ...service.map(({ origin }) => origin));
    this.#set(UNTESTED);
    void this.#test(service, 1);
  }

  async close(): Promise<void> {
    this.#tested = null;
    clearTimeout(this.#retry);
    await this.storages.destroy();
  }

  async #test(service: readonly ServiceOrigin[], attempt: number): Promise<void> {
    clearTimeout(this.#retry);
    const text = this.#tested;
    const { url, log } = this.#options;
    const results = await Promise.all(service.map((origin) => whyNotReached(origin, url, this.storages)));
    // Another test has started, or the node has ended.
    if (text !== this.#tested) return;
    const reasons = results.filter((reason) => reason !== null);
    for (const reason of reasons) if (!this.#notReady.includes(reason)) log.error("node not ready", { reason });
    if (reasons.length === 0) log.info("node ready");
    else
      this.#retry = setTimeout(
        () => void this.#test(service, attempt + 1),
        backoffMs(attempt, RETRY, () => 1),
      );
    this.#set(reasons);
  }

  #set(reasons: readonly string[]): void {
    const isSame = reasons.join("\n") === this.#notReady.join("\n");
    this.#notReady = reasons;
    if (!isSame) this.#options.changed();
  }
}

/** The service has signed a URL for an origin that it has not stated to this node: other nodes may know the origin. */
const unknownOrigin = (host: string): AppError =>
  new AppError(
    "node_failed",
    `The node may not connect to the service's storage at ${host}: it does not know this host`,
  );

const OPTIONS = { "control plane": "--public-url", scratch: "--s3-url" } as const;
const PATHS = { "control plane": "/v2/health", scratch: "/" } as const;

/** The reason why this node cannot use an origin of the service, with advice; null if it can. */
async function whyNotReached({ origin, use }: ServiceOrigin, url: string, dispatcher: Agent): Promise<string | null> {
  if (isLoopback(origin) && !isLoopback(url)) {
    const { port } = new URL(origin);
    const example = `http://<address of that machine>:${port}`;
    return `Cannot use ${origin}: it is a loopback URL, and the control plane runs on another machine. Start the service with ${OPTIONS[use]} ${example}`;
  }
  const problem = await testOrigin(`${origin}${PATHS[use]}`, use, dispatcher);
  return (
    problem &&
    `Cannot reach ${origin} (${problem}). Check that ${OPTIONS[use]} of the service names it, that it listens there (--bind), and the firewalls between`
  );
}

/** Returns the failure of a small request, in a few words; null if the request works. */
async function testOrigin(url: string, use: ServiceOrigin["use"], dispatcher: Agent): Promise<string | null> {
  try {
    const signal = AbortSignal.timeout(TEST_LIMIT_MS);
    const { statusCode, body } = await request(url, { dispatcher, signal, headers: { "user-agent": NODE_USER_AGENT } });
    const text = await body.text();
    if (statusCode >= 502 && statusCode <= 504) return `HTTP ${statusCode}`;
    // Any answer shows that the bucket's server is reachable: it refuses requests without a signature.
    return use === "scratch" || isControlPlane(text) ? null : "another program answers there";
  } catch (error) {
    if (error instanceof Error && error.name === "TimeoutError") return `no answer within ${TEST_LIMIT_MS / 1000} s`;
    const code = error instanceof Error && "code" in error ? String(error.code) : null;
    const failure = connectionFailureOf(code);
    return failure === "refused" ? "connection refused" : failure === "broken" ? (code ?? messageOf(error)) : failure;
  }
}

function isControlPlane(text: string): boolean {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === "object" && answer !== null && ("nodes" in answer || "error_code" in answer);
  } catch {
    return false;
  }
}

const isLoopback = (url: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);
