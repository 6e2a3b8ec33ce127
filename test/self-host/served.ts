// A process of `copra serve`, as an operator starts it.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { ROOT } from "../../local/home/constants.ts";
import { readStackFile, type StackFile } from "../../local/home/stack-file.ts";
import { basicAuth } from "../../local/stack/access.ts";
import { JobView } from "../services/api-client.ts";
import { JOB_LIMIT_MS } from "../stack.ts";

const COPRA = join(ROOT, "cli", "copra.mjs");
const LOOK_EVERY_MS = 200;

export type Served = {
  readonly home: string;
  readonly stack: StackFile;
  /** All output so far. */
  output(): string;
  submit(job: object): Promise<JobView>;
  job(id: string): Promise<JobView>;
  /** Waits until the job has ended, with any status. */
  ended(id: string): Promise<JobView>;
  /** Kills the service and all its processes at once. */
  kill(): Promise<void>;
  /** Stops the service as a supervisor does; returns its exit code. */
  stop(): Promise<number | null>;
};

type Options = { readonly home: string; readonly argv?: readonly string[]; readonly env?: Record<string, string> };

/** Runs a command of the CLI; returns its output. Rejects with its errors. */
export const copra = async (...argv: string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, [COPRA, ...argv])).stdout;

/** Starts the service, and waits until it accepts jobs. */
export async function serve({ home, argv = [], env = {} }: Options): Promise<Served> {
  // Other tests cover the sandbox, and some machines lack parts of it.
  const flags = ["--data", home, "--isolation", "best-effort", "--drain-seconds", "0", ...argv];
  // As leader of a process group, which `kill` ends: the command line, its child, and the service itself.
  const child = spawn(process.execPath, [COPRA, "serve", ...flags], {
    env: { ...process.env, ...env },
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  const stack = await started(child, home, () => output);
  const headers = { authorization: basicAuth(stack.apiKey) };
  const job = async (id: string): Promise<JobView> =>
    JobView.parse(await (await fetch(`${stack.api}/jobs/${id}`, { headers })).json());
  return {
    home,
    stack,
    job,
    output: () => output,
    submit: async (body) => {
      const response = await fetch(`${stack.api}/jobs`, { method: "POST", headers, body: JSON.stringify(body) });
      const answer = await response.json();
      if (response.status !== 201) throw new Error(`HTTP ${response.status}: ${JSON.stringify(answer)}`);
      return JobView.parse(answer);
    },
    ended: (id) => ended(job, id),
    kill: async () => {
      const { controlPlane, s3, nodes } = readStackFile(home)?.pids ?? stack.pids;
      const exit = once(child, "exit");
      // Without an S3 server its pid is 0, which would mean this process group.
      const pids = [-(child.pid ?? 0), controlPlane, s3, ...nodes].filter((pid) => pid !== 0);
      for (const pid of pids) process.kill(pid, "SIGKILL");
      await exit;
    },
    stop: async () => {
      const exit = once(child, "exit");
      child.kill("SIGTERM");
      const [code] = await exit;
      return code;
    },
  };
}

async function started(child: ChildProcess, home: string, output: () => string): Promise<StackFile> {
  const deadline = Date.now() + JOB_LIMIT_MS;
  while (Date.now() < deadline) {
    const stack = output().includes("Copra runs.") ? readStackFile(home) : null;
    if (stack) return stack;
    if (child.exitCode !== null) throw new Error(`copra serve ended with ${child.exitCode}: ${output()}`);
    await sleep(LOOK_EVERY_MS);
  }
  child.kill("SIGKILL");
  throw new Error(`copra serve did not start: ${output()}`);
}

async function ended(job: (id: string) => Promise<JobView>, id: string): Promise<JobView> {
  const deadline = Date.now() + JOB_LIMIT_MS;
  while (Date.now() < deadline) {
    const view = await job(id).catch(() => null);
    if (view?.completed_at != null) return view;
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`Job ${id} did not end`);
}
