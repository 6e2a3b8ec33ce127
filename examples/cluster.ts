// A cluster on one machine: instances of `copra serve --cluster` behind a balancer, their bucket, and two nodes. While jobs
// run, the instances are killed one after the other, the bucket is away for a minute, and an instance does not reach the
// others. At the end each job must have completed and each webhook must have arrived once.
//
//   node local/bootstrap.mjs examples/cluster.ts [--instances 2] [--jobs 20] [--quiet]     # --quiet: without faults
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createLogger } from "#shared/log.ts";
import { Copra } from "../client/index.ts";
import { serveFile } from "../local/demo/file-server.ts";
import { sampleClip } from "../local/demo/sample.ts";
import { openInbox } from "../local/demo/webhook-inbox.ts";
import { loadSecrets } from "../local/home/secrets.ts";
import { startS3 } from "../local/s3/s3-app.ts";
import { findFree } from "../local/stack/ports.ts";

const { values } = parseArgs({
  options: {
    instances: { type: "string", default: "2" },
    jobs: { type: "string", default: "20" },
    quiet: { type: "boolean", default: false },
  },
});
const count = Number(values.jobs);
const KEYS = { accessKeyId: "CLUSTER", secretAccessKey: "the-secret-of-the-example" };
const [RECOVERY_MS, BUCKET_AWAY_MS, ALONE_MS, IDLE_MS] = [45_000, 60_000, 30_000, 20_000];
const startedAt = Date.now();
const say = (text: string): void => console.log(`${Math.round((Date.now() - startedAt) / 1000)} s`.padStart(6), text);
const folder = mkdtempSync(join(tmpdir(), "copra-cluster-"));

/** Passes connections on to the ports in turn. */
class Relay {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #isDown = false;

  constructor(ports: () => readonly number[]) {
    let turn = 0;
    this.#server = createServer((socket) => {
      const port = ports()[turn++ % Math.max(1, ports().length)];
      if (this.#isDown || port === undefined) return socket.destroy();
      const target = connect(port, "127.0.0.1");
      socket.pipe(target).pipe(socket);
      for (const [end, other] of [
        [socket, target],
        [target, socket],
      ] as const) {
        this.#sockets.add(end);
        end.on("error", () => other.destroy()).on("close", () => this.#sockets.delete(end) && other.destroy());
      }
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  /** Breaks all connections, and accepts none for this time. */
  async fail(ms: number): Promise<void> {
    this.#isDown = true;
    for (const socket of this.#sockets) socket.destroy();
    await sleep(ms);
    this.#isDown = false;
  }
}

/** Requests to the bucket of the cluster, by method. */
const requests = new Map<string, number>();
const countLine = (line: string): void => {
  const { method, path } = JSON.parse(line);
  if (!String(path).startsWith("/cluster/")) return;
  const kind = path === "/cluster/" ? "LIST" : method;
  requests.set(kind, (requests.get(kind) ?? 0) + 1);
};
const s3 = await startS3(
  {
    port: 0,
    directory: join(folder, "s3"),
    bucket: "media",
    privateBuckets: ["cluster", "scratch"],
    credentials: KEYS,
  },
  createLogger({ write: countLine, now: Date.now, level: "info" }),
);
const endpoint = `http://127.0.0.1:${s3.port}`;
const bucket = new Relay(() => [s3.port]);
const bucketPort = await bucket.listen();

const children: ChildProcess[] = [];
function copra(argv: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, ["cli/copra.mjs", ...argv], { env: { ...process.env, ...env }, stdio: "pipe" });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  child.once("exit", (code) => code !== null && say(`copra ${argv[0]} ended with ${code}: ${output.slice(-400)}`));
  children.push(child);
  return child;
}

/** A process and all that it has started. */
function tree(pid = 0): number[] {
  const rows = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  const pairs = rows.map((row) => row.trim().split(/\s+/).map(Number));
  const below = (parent: number): number[] =>
    pairs.flatMap(([child = 0, of]) => (of === parent ? [child, ...below(child)] : []));
  return [pid, ...below(pid)];
}
const kill = (pids: readonly number[]): void => {
  for (const pid of pids) if (existsSync(`/proc/${pid}`)) process.kill(pid, "SIGKILL");
};
type Instance = { readonly port: number; readonly peers: Relay; readonly start: () => ChildProcess; isReady: boolean };
const instances: (Instance & { process: ChildProcess })[] = [];
const balancer = new Relay(() => instances.filter(({ isReady }) => isReady).map(({ port }) => port));
const url = `http://127.0.0.1:${await balancer.listen()}`;
const AWS = { AWS_ENDPOINT_URL: `http://127.0.0.1:${bucketPort}`, AWS_REGION: "us-east-1" };
const homeOf = (index: number): string => join(folder, `instance-${index + 1}`);

for (let index = 0; index < Number(values.instances); index++) {
  mkdirSync(homeOf(index), { mode: 0o700 });
  if (index > 0) copyFileSync(join(homeOf(0), "secrets.json"), join(homeOf(index), "secrets.json"));
  const [port, address] = [await findFree(), await findFree()];
  const peers = new Relay(() => [address]);
  const advertised = await peers.listen();
  const start = (): ChildProcess =>
    copra(
      [
        ...["serve", "--data", homeOf(index), "--port", `${port}`, "--nodes", "0", "--public-url", url],
        ...["--cluster", "s3://cluster/copra", "--cluster-address", `127.0.0.1:${address}`, "--insecure-http"],
        ...["--cluster-advertise", `127.0.0.1:${advertised}`, "--allow-private", "all"],
      ],
      { ...AWS, AWS_ACCESS_KEY_ID: KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey },
    );
  const instance = { port, peers, start, process: start(), isReady: false };
  instances.push(instance);
  while (!existsSync(join(homeOf(index), "stack.json"))) await sleep(200);
  say(`instance ${index + 1} runs`);
}
const statusOf = (origin: string): Promise<number> =>
  fetch(`${origin}/v2/health/ready`, { signal: AbortSignal.timeout(3000) }).then(
    ({ status }) => status,
    () => 0,
  );
/** The longest time without an answer since the last fault began, and in all. */
let [answeredAt, gapMs, longestMs] = [Date.now(), 0, 0];
const watch = setInterval(() => {
  for (const instance of instances)
    void statusOf(`http://127.0.0.1:${instance.port}`).then((status) => (instance.isReady = status === 200));
  void statusOf(url).then((status) => {
    if (status !== 200) return;
    gapMs = Math.max(gapMs, Date.now() - answeredAt);
    longestMs = Math.max(longestMs, gapMs);
    answeredAt = Date.now();
  });
}, 500);

const { access } = loadSecrets(homeOf(0));
if (!access) throw new Error("The first instance has no account");
writeFileSync(join(folder, "token"), access.nodeToken, { mode: 0o600 });
for (const name of ["a", "b"]) {
  const options = ["--token-file", join(folder, "token"), "--name", name, "--work", join(folder, name)];
  copra(["node", "--url", url, "--allow-private", "all", ...options], { COPRA_NODE_ISOLATION: "best-effort" });
}
const arrivals = new Map<string, number>();
const inbox = await openInbox(access.webhookSecret, ({ jobId, event }) => {
  if (event === "job.completed") arrivals.set(jobId, (arrivals.get(jobId) ?? 0) + 1);
});
const source = await serveFile(await sampleClip(folder));

const client = new Copra({ url, key: access.apiKey });
/** Repeats a call while no instance answers it. */
async function patiently<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await call().catch(() => null);
    if (answer !== null) return answer;
    await sleep(1000);
  }
}

async function injectFaults(): Promise<void> {
  const kills = instances.map((instance, index) => async () => {
    say(`kill -9 of instance ${index + 1}`);
    kill(tree(instance.process.pid));
    await sleep(5000);
    instance.process = instance.start();
  });
  const others = [
    async () => {
      say("the bucket is away for a minute");
      await bucket.fail(BUCKET_AWAY_MS);
    },
    async () => {
      say("instance 1 does not reach the others for half a minute");
      await instances[0]?.peers.fail(ALONE_MS);
    },
  ];
  for (const fault of [...kills, ...others, ...kills]) {
    gapMs = 0;
    await fault();
    await sleep(RECOVERY_MS);
    say(`  at most ${(gapMs / 1000).toFixed(1)} s without an answer`);
  }
}

await sleep(5000);
requests.clear();
await sleep(IDLE_MS);
const inText = (): string => [...requests].map(([method, times]) => `${times} ${method}`).join(", ");
const idle = inText();
requests.clear();
const firstAt = Date.now();
const faults = values.quiet ? Promise.resolve() : injectFaults();
const storage = {
  service: "s3other" as const,
  bucket: "media",
  region: "us-east-1",
  endpoint,
  force_path_style: true,
  credentials: { access_key_id: KEYS.accessKeyId, secret_access_key: KEYS.secretAccessKey },
};
const ids: string[] = [];
for (let number = 0; number < count; number++) {
  const outputs = { "mp4:x180": { path: `/${number}/a.mp4`, duration: 3 }, "jpg:320x": { path: `/${number}/b.jpg` } };
  const notification = { type: "http" as const, url: inbox.origin };
  const job = { input: { url: source.url }, storage, notification, outputs };
  ids.push((await patiently(() => client.jobs.create(job, { idempotencyKey: `example-${number}` }))).id);
}
say(`${count} jobs accepted`);
const jobs = [];
for (const id of ids) jobs.push(await patiently(() => client.jobs.wait(id)));
const completed = jobs.filter(({ status }) => status === "job.completed").length;
const seconds = (Date.now() - firstAt) / 1000;
say(`${completed} of ${count} jobs completed`);
while (arrivals.size < completed) await sleep(500);
const withJobs = inText();
await faults;
// A webhook that is sent twice comes within the first retry's time.
await sleep(15_000);
clearInterval(watch);
const once = ids.filter((id) => arrivals.get(id) === 1).length;
console.log(`
jobs        ${completed} of ${new Set(ids).size} completed in ${seconds.toFixed(0)} s
webhooks    ${once} of ${count} arrived once, ${[...arrivals.values()].filter((times) => times > 1).length} more than once
gap         at most ${(longestMs / 1000).toFixed(1)} s without an answer through the balancer
bucket      ${withJobs} with jobs; ${idle} in ${IDLE_MS / 1000} s without
`);
kill(children.flatMap(({ pid }) => tree(pid)));
rmSync(folder, { recursive: true, force: true });
process.exit(completed === count && once === count ? 0 : 1);
