// The real system for end-to-end tests: separate processes, free ports, and a home that is deleted afterwards.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inject } from "vitest";
import { storageOf } from "../local/demo/demo-job.ts";
import { loadSecrets } from "../local/home/secrets.ts";
import { LOCAL_SERVICE } from "../local/home/service-settings.ts";
import type { StackSettings } from "../local/home/settings.ts";
import { readStackFile, type StackFile } from "../local/home/stack-file.ts";
import { basicAuth } from "../local/stack/access.ts";
import { findFree } from "../local/stack/ports.ts";
import { startStack } from "../local/stack/stack.ts";
import { type Served, serve } from "./self-host/served.ts";
import { JobView } from "./services/api-client.ts";
import { giveKnownEncoders, keepKnownEncoders } from "./services/known-encoders.ts";

export type Answer = { status: number; headers: Headers; body: unknown };

/** A running stack for tests that neither kill nor restart it. */
export type SharedStack = Omit<StackFile, "pids"> & {
  readonly home: string;
  /** The key that signs the account's webhooks. */
  readonly webhookSecret: string;
  /** The `storage` of a job request that writes to the stack's S3 server. */
  readonly storage: object;
  /**
   * Calls the API with the account's key. `path` comes after `/v2`. `body` is sent as JSON; a string is sent unchanged.
   */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Creates a job; by default with the stack's storage and a notification without a receiver. */
  submit(job: object, headers?: Record<string, string>): Promise<JobView>;
  /** Waits until the job has ended, with any status. */
  waitForJob(id: string, timeoutMs?: number): Promise<JobView>;
  /** The log of a process of the stack: `control-plane`, `s3`, `node-1` and so on. */
  log(name: string): string;
};

export type TestStack = SharedStack & {
  /** The current pids: a killed process restarts with a new pid. */
  pids(): StackFile["pids"];
  /** Ends the stack, by default without waiting for running work, and deletes its home. */
  stop(drainMs?: number): Promise<void>;
  /**
   * Ends the stack and restarts it in the same home and on the same ports; `whileDown` may change files of the home.
   */
  restart(whileDown?: () => void): Promise<TestStack>;
  /**
   * Kills all processes at once, and restarts them in the same home. Null if they belong to the process of the test.
   */
  crash: (() => Promise<void>) | null;
};

/** Data about the shared stack for test files. */
export type StackHandle = {
  readonly description: Omit<StackFile, "pids">;
  readonly home: string;
  readonly webhookSecret: string;
};

declare module "vitest" {
  interface ProvidedContext {
    stack: StackHandle;
  }
}

/**
 * Less than the time limit of a test, and less than half a lease: no job may wait until a lost node's lease expires.
 * Jobs on the shared stack wait for jobs of other files.
 */
export const JOB_LIMIT_MS = 400_000;
const LOOK_EVERY_MS = 250;
/** Port 9 (discard) of this machine, where no program listens. */
const NOBODY = { type: "http", url: "http://127.0.0.1:9/" };

/**
 * True if stacks are `copra serve`, as operators start it (the project `served`), instead of the stack of `npm start`.
 */
const IS_SERVED = process.env.COPRA_TEST_STACK === "serve";

type TestStackOptions = {
  /** Number of encoder nodes; 1 by default. */
  nodes?: number;
  /** True if requests pass an emulation of Cloudflare's edge. */
  isEdge?: boolean;
};

export const startTestStack = ({ nodes = 1, isEdge = false }: TestStackOptions = {}): Promise<TestStack> => {
  const home = mkdtempSync(join(tmpdir(), "copra-e2e-"));
  if (IS_SERVED) return serveOn(home, nodes);
  return startOn({ home, port: 0, s3Port: 0, nodes, service: { ...LOCAL_SERVICE, isEdge } });
};

/** The stack of test/services/shared-stack.ts, with a single node. Its jobs run beside jobs of other files. */
export const sharedStack = (): SharedStack => clientOf(inject("stack"));

async function startOn(settings: StackSettings): Promise<TestStack> {
  const { home } = settings;
  const folders = Array.from({ length: settings.nodes }, (_, at) => join(home, "nodes", String(at + 1)));
  for (const folder of folders) giveKnownEncoders(folder);
  const stack = await startStack(settings, { notify: () => {} });
  const { pids: _, ...description } = stack.describe();
  return {
    ...clientOf({ description, home, webhookSecret: stack.webhookSecret }),
    pids: () => stack.describe().pids,
    stop: async (drainMs = 0) => {
      await stack.stop(drainMs);
      for (const folder of folders) keepKnownEncoders(folder);
      rmSync(home, { recursive: true, force: true });
    },
    restart: async (whileDown) => {
      await stack.stop(0);
      whileDown?.();
      const port = Number(new URL(description.api).port);
      return startOn({ ...settings, port, s3Port: Number(new URL(description.s3.endpoint).port) });
    },
    crash: null,
  };
}

async function serveOn(home: string, nodes: number, fixedPorts?: { port: number; s3Port: number }): Promise<TestStack> {
  const ports = fixedPorts ?? { port: await findFree(), s3Port: await findFree() };
  const flags = ["--port", ports.port, "--s3-port", ports.s3Port, "--nodes", nodes].map(String);
  const start = (): Promise<Served> => serve({ home, argv: [...flags, "--allow-private", "loopback"] });
  let served = await start();
  const { pids: _, ...description } = served.stack;
  const webhookSecret = loadSecrets(home).access?.webhookSecret ?? "";
  return {
    ...clientOf({ description, home, webhookSecret }),
    pids: () => (readStackFile(home) ?? served.stack).pids,
    stop: async () => {
      await served.stop();
      rmSync(home, { recursive: true, force: true });
    },
    restart: async (whileDown) => {
      await served.stop();
      whileDown?.();
      return serveOn(home, nodes, ports);
    },
    crash: async () => {
      await served.kill();
      served = await start();
    },
  };
}

/** A client of a running stack, by its stack.json. */
export function clientOf({ description, home, webhookSecret }: StackHandle): SharedStack {
  const request = requester(description.api, description.apiKey);
  const storage = storageOf(description);
  return {
    ...description,
    home,
    webhookSecret,
    storage,
    request,
    submit: async (job, headers) => {
      const { status, body } = await request("POST", "/jobs", { storage, notification: NOBODY, ...job }, headers);
      if (status !== 201) throw new Error(`The job was rejected: ${status} ${JSON.stringify(body)}`);
      return JobView.parse(body);
    },
    waitForJob: (id, timeoutMs = JOB_LIMIT_MS) => waitForJob({ request, ...description }, id, timeoutMs),
    log: (name) => readFileSync(join(home, `${name}.log`), "utf8"),
  };
}

const requester =
  (api: string, apiKey: string): SharedStack["request"] =>
  async (method, path, body, headers = {}) => {
    const response = await fetch(`${api}${path}`, {
      method,
      headers: { authorization: basicAuth(apiKey), ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: asJson(text) };
  };

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

type Waiting = Pick<SharedStack, "request" | "adminToken">;

async function waitForJob({ request, adminToken }: Waiting, id: string, timeoutMs: number): Promise<JobView> {
  const deadline = Date.now() + timeoutMs;
  let last = "it was never seen";
  while (Date.now() < deadline) {
    // There is no answer while the control plane restarts.
    const answer = await request("GET", `/jobs/${id}`).catch((error: unknown) => ({ status: 0, body: String(error) }));
    if (answer.status === 200) {
      const job = JobView.parse(answer.body);
      if (job.completed_at !== null) return job;
    }
    last = JSON.stringify(answer.body);
    await sleep(LOOK_EVERY_MS);
  }
  // Report the nodes: other jobs may occupy them, or a node may get no work.
  const authorization = `Bearer ${adminToken}`;
  const nodes = await request("GET", "/admin/nodes", undefined, { authorization }).catch((error: unknown) => ({
    body: String(error),
  }));
  throw new Error(`Job ${id} did not end within ${timeoutMs} ms: ${last}; nodes: ${JSON.stringify(nodes.body)}`);
}
