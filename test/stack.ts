// The real system for end-to-end tests: its own processes, free ports, a home that is deleted afterwards.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { JobView } from "../local/demo/api-client.ts";
import { storageOf } from "../local/demo/demo-job.ts";
import type { StackSettings } from "../local/home/settings.ts";
import type { StackFile } from "../local/home/stack-file.ts";
import { basicAuth } from "../local/stack/access.ts";
import { startStack } from "../local/stack/stack.ts";

export type Answer = { status: number; headers: Headers; body: unknown };

export type TestStack = Omit<StackFile, "pids"> & {
  readonly home: string;
  /** What the account's webhooks are signed with. */
  readonly webhookSecret: string;
  /** The current pids: a killed process is restarted with another. */
  pids(): StackFile["pids"];
  /** The `storage` of a job request that writes to the stack's S3 server. */
  readonly storage: object;
  /** Asks the API with the account's key; `path` comes after `/v2`. `body` is sent as JSON, text as it is. */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Creates a job; what `job` leaves out is the stack's storage and a notification that nobody takes. */
  submit(job: object): Promise<JobView>;
  /** Waits until the job has ended, in whatever way. */
  waitForJob(id: string, timeoutMs?: number): Promise<JobView>;
  /** What a process of the stack has logged: `control-plane`, `s3`, `node-1` and so on. */
  log(name: string): string;
  /** Ends the stack, by default without waiting for running work, and deletes its home. */
  stop(drainMs?: number): Promise<void>;
  /** Ends the stack and starts it again on the same home and ports; `whileDown` may change what lies there. */
  restart(whileDown?: () => void): Promise<TestStack>;
};

const JOB_LIMIT_MS = 120_000;
const LOOK_EVERY_MS = 250;
/** Port 9 (discard) of this machine, where nothing listens. */
const NOBODY = { type: "http", url: "http://127.0.0.1:9/" };

/** Starts a stack with `nodes` encoder nodes, one unless given. */
export const startTestStack = ({ nodes = 1 }: { nodes?: number } = {}): Promise<TestStack> =>
  startOn({ home: mkdtempSync(join(tmpdir(), "copra-e2e-")), port: 0, s3Port: 0, nodes });

async function startOn(settings: StackSettings): Promise<TestStack> {
  const { home } = settings;
  const stack = await startStack(settings, { notify: () => {} });
  const { pids: _, ...description } = stack.describe();
  const request = requester(description.api, description.apiKey);
  const storage = storageOf(stack.describe());
  return {
    ...description,
    home,
    webhookSecret: stack.webhookSecret,
    pids: () => stack.describe().pids,
    storage,
    request,
    submit: async (job) => {
      const { status, body } = await request("POST", "/jobs", { storage, notification: NOBODY, ...job });
      if (status !== 201) throw new Error(`The job was refused: ${status} ${JSON.stringify(body)}`);
      return JobView.parse(body);
    },
    waitForJob: (id, timeoutMs = JOB_LIMIT_MS) => waitForJob(request, id, timeoutMs),
    log: (name) => readFileSync(join(home, `${name}.log`), "utf8"),
    stop: async (drainMs = 0) => {
      await stack.stop(drainMs);
      rmSync(home, { recursive: true, force: true });
    },
    restart: async (whileDown) => {
      await stack.stop(0);
      whileDown?.();
      const port = Number(new URL(description.api).port);
      return startOn({ ...settings, port, s3Port: Number(new URL(description.s3.endpoint).port) });
    },
  };
}

const requester =
  (api: string, apiKey: string): TestStack["request"] =>
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

async function waitForJob(request: TestStack["request"], id: string, timeoutMs: number): Promise<JobView> {
  const deadline = Date.now() + timeoutMs;
  let last = "it was never seen";
  while (Date.now() < deadline) {
    // While the control plane is being started again there is no answer.
    const answer = await request("GET", `/jobs/${id}`).catch((error: unknown) => ({ status: 0, body: String(error) }));
    if (answer.status === 200) {
      const job = JobView.parse(answer.body);
      if (job.completed_at !== null) return job;
    }
    last = JSON.stringify(answer.body);
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`Job ${id} did not end within ${timeoutMs} ms: ${last}`);
}
