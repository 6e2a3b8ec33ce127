// The service in virtual time, as its users see it: accounts, node tokens, nodes, and submitted jobs.

import { type NodeOptions, SimulatedNode } from "./node.ts";
import { STORAGE_HOST, WEBHOOK_HOST } from "./platform/internet.ts";
import { type Network, QUIET } from "./platform/network.ts";
import { Platform } from "./platform/platform.ts";

/** A client repeats a request after about five seconds. */
const RETRY_MS = 5000;
const MAX_ATTEMPTS = 100;
export const ADMIN_TOKEN = "simulated-admin-token-of-32-characters";
const SEALING_KEY = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
/** 2026-11-01. */
const START = 1_793_491_200_000;

export type ServiceOptions = {
  readonly root: string;
  readonly seed: number;
  readonly isExact: boolean;
  /** By default, all requests take the usual time and arrive. */
  readonly network?: Network;
  /** See PlatformOptions. */
  readonly fetchMs?: number;
};

/**
 * Time that an object's thread needs for an event, in ms: the same order of magnitude as in workerd (bench/load.ts).
 */
const SERVICE_MS = { JobObject: 1, NodeHub: 0.2, AccountObject: 0.2 };

export class Service {
  readonly platform: Platform;

  constructor({ root, seed, isExact, network = QUIET, fetchMs = 100 }: ServiceOptions) {
    const scratch = "SCRATCH_";
    this.platform = new Platform({
      root,
      seed,
      isExact,
      network,
      fetchMs,
      now: START,
      serviceMs: SERVICE_MS,
      variables: {
        ADMIN_TOKEN,
        SEALING_KEYS: `t1:${SEALING_KEY}`,
        ALLOW_PRIVATE: "none",
        LOG_LEVEL: "warn",
        [`${scratch}ENDPOINT`]: `https://${STORAGE_HOST}`,
        [`${scratch}REGION`]: "auto",
        [`${scratch}BUCKET`]: "copra-scratch",
        [`${scratch}ACCESS_KEY_ID`]: "id",
        [`${scratch}SECRET_ACCESS_KEY`]: "secret",
      },
    });
  }

  start(): Promise<void> {
    return this.platform.start();
  }

  /** Runs virtual time until a promise has settled. */
  async until<Value>(promise: Promise<Value>): Promise<Value> {
    let isSettled = false;
    const settled = promise.finally(() => {
      isSettled = true;
    });
    settled.catch(() => undefined);
    await this.platform.time.run(Number.POSITIVE_INFINITY, () => isSettled);
    return settled;
  }

  /** Creates an account; returns its API key. */
  async newAccount(name: string, changes: object = {}): Promise<string> {
    const { api_key } = await this.#admin("accounts", { name, ...changes });
    return String(api_key);
  }

  /** Creates a node token. */
  async newToken(name: string, changes: object = {}): Promise<string> {
    const { token, node_token } = await this.#admin("node-tokens", { name, ...changes });
    return String(token ?? node_token);
  }

  node(options: NodeOptions): SimulatedNode {
    return new SimulatedNode(this.platform, options);
  }

  /** Submits a job, with a key; repeats the request until it succeeds. Returns the job's id. */
  async submit(apiKey: string, body: object, idempotencyKey?: string): Promise<string> {
    const headers = {
      authorization: `Basic ${btoa(`${apiKey}:`)}`,
      "content-type": "application/json",
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
    };
    const sent = { method: "POST", headers, body: JSON.stringify({ ...JOB, ...body }) };
    for (let attempt = 1; ; attempt++) {
      const response = await this.platform.request("/v2/jobs", sent);
      const answer = (await response.json()) as { id?: string };
      if (answer.id) return answer.id;
      const isTemporary = response.status >= 500 || response.status === 429;
      if (!isTemporary || idempotencyKey === undefined || attempt === MAX_ATTEMPTS) {
        throw new Error(`Not submitted: ${response.status} ${JSON.stringify(answer)}`);
      }
      await this.platform.time.sleep(RETRY_MS * (1 + this.platform.random()));
    }
  }

  /** Submits jobs in a request. */
  async submitBatch(apiKey: string, jobs: readonly object[], idempotencyKey: string): Promise<void> {
    const headers = { authorization: `Basic ${btoa(`${apiKey}:`)}`, "idempotency-key": idempotencyKey };
    const sent = { method: "POST", headers, body: JSON.stringify({ defaults: JOB, jobs }) };
    const answer = await (await this.platform.request("/v2/jobs/batch", sent)).text();
    if (answer.includes('"error')) throw new Error(`Not submitted: ${answer}`);
  }

  /** The API's answer to a client; repeats the request until there is an answer. */
  async get(apiKey: string, path: string, method = "GET"): Promise<unknown> {
    const headers = { authorization: `Basic ${btoa(`${apiKey}:`)}` };
    for (;;) {
      const response = await this.platform.request(`/v2${path}`, { method, headers });
      if (response.status < 500) return response.json();
      await this.platform.time.sleep(RETRY_MS);
    }
  }

  /** Follows a job to its end, as clients do; returns the events. */
  async follow(apiKey: string, id: string): Promise<string[]> {
    const events: string[] = [];
    for (let lastEventId = ""; ; ) {
      const headers = { authorization: `Basic ${btoa(`${apiKey}:`)}`, "last-event-id": lastEventId };
      const { body } = await this.platform.request(`/v2/jobs/${id}/events`, { headers });
      for await (const bytes of body ?? []) {
        for (const [, event = ""] of new TextDecoder().decode(bytes).matchAll(/^event: (\w+)$/gm)) {
          events.push(event);
          lastEventId = String(events.length);
        }
      }
      if (events.at(-1) === "end") return events;
      await this.platform.time.sleep(RETRY_MS);
    }
  }

  async #admin(path: string, body: object): Promise<Record<string, unknown>> {
    const response = await this.platform.request(`/v2/admin/${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  }
}

const JOB = {
  input: { url: "https://media.example.com/video.mp4" },
  storage: {
    service: "s3other",
    endpoint: `https://${STORAGE_HOST}`,
    bucket: "results",
    region: "us-east-1",
    credentials: { access_key_id: "id", secret_access_key: "secret" },
  },
  notification: { type: "http", url: `https://${WEBHOOK_HOST}/hook` },
};
