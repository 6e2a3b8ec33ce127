// One run: a control plane of its own, simulated nodes, and jobs by the API; what was seen of them, and what they cost.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { storageOf } from "../../local/demo/demo-job.ts";
import { type LoopbackServer, serveLoopback } from "../../local/demo/loopback-server.ts";
import { readBody } from "../../local/demo/webhook-inbox.ts";
import { basicAuth } from "../../local/stack/access.ts";
import { connectedNodes } from "../../local/stack/readiness.ts";
import { type Stack, startStack } from "../../local/stack/stack.ts";
import { Ledger } from "./observations.ts";
import { usageOf } from "./process-tree.ts";
import { type SimulatedNode, startSimulatedNode } from "./simulated-node.ts";

export type Load = {
  readonly nodes: number;
  readonly jobs: number;
  readonly accounts: number;
  /** Jobs that are POSTed at the same time. */
  readonly posting: number;
  /** Whether outputs are really stored. */
  readonly stores: boolean;
  /** Kills the control plane, which is started again, once so many jobs have ended; null: never. */
  readonly killAfter: number | null;
  /** Where the control plane keeps its things; the caller deletes it. */
  readonly home: string;
};

export type LoadOutcome = {
  readonly ledger: Ledger;
  readonly wallMs: number;
  readonly cpuMs: number;
  /** Before the first job and at most. */
  readonly rssBytes: { readonly idle: number; readonly most: number };
  /** What the hub still holds on its disk. */
  readonly ticketsLeft: number;
};

const SLOTS = { inspect: 1, encode: 1 };
const LOOK_EVERY_MS = 200;
/** Nothing ended for so long: it never will. */
const STALLED_MS = 90_000;

export async function runLoad(load: Load): Promise<LoadOutcome> {
  const stack = await startStack({ home: load.home, port: 0, s3Port: 0, nodes: 0 }, { notify: () => {} });
  const ledger = new Ledger(load.killAfter === null);
  const inbox = await openInbox(ledger);
  const nodes: SimulatedNode[] = [];
  try {
    await connect(stack, load, ledger, nodes);
    const before = controlPlaneUsage(stack);
    const startedAt = performance.now();
    const keys = await Promise.all(Array.from({ length: load.accounts }, () => newAccount(stack, ledger)));
    const most = await submitAndWait(stack, load, ledger, { inbox, keys });
    const wallMs = performance.now() - startedAt;
    const cpuMs = controlPlaneUsage(stack).cpuMs - before.cpuMs;
    await checkIndex(stack, ledger, keys);
    for (const node of nodes) node.close();
    await stack.stop(0);
    const rssBytes = { idle: before.rssBytes, most };
    return { ledger, wallMs, cpuMs, rssBytes, ticketsLeft: ticketsOf(load.home) };
  } finally {
    for (const node of nodes) node.close();
    await stack.stop(0);
    await inbox.close();
  }
}

const controlPlaneUsage = (stack: Stack) => usageOf(stack.describe().pids.controlPlane);

const openInbox = (ledger: Ledger): Promise<LoopbackServer> =>
  serveLoopback((request, response) => {
    readBody(request).then(
      (body) => {
        const { job_id, event } = Webhook.parse(JSON.parse(body.toString()));
        ledger.ended(job_id, event, String(request.headers["webhook-id"]));
        response.end("{}");
      },
      () => response.destroy(),
    );
  });
const Webhook = z.object({ job_id: z.string(), event: z.string() });

/** As many as one token is for (docs/nodes.md). */
const NODES_PER_TOKEN = 64;

async function connect(stack: Stack, load: Load, ledger: Ledger, nodes: SimulatedNode[]): Promise<void> {
  const { api } = stack.describe();
  const url = api.replace(/\/v2$/, "");
  let token = "";
  for (let number = 1; number <= load.nodes; number++) {
    if (number % NODES_PER_TOKEN === 1) token = await newNodeToken(stack, ledger);
    const options = { nodeId: `simulated-${number}`, url, token, slots: SLOTS, stores: load.stores };
    nodes.push(startSimulatedNode(options, ledger));
  }
  const deadline = Date.now() + STALLED_MS;
  while (((await connectedNodes(api)) ?? 0) < load.nodes || ledger.welcomed.size < load.nodes) {
    if (Date.now() > deadline) throw new Error(`Only ${ledger.welcomed.size} of ${load.nodes} nodes have connected`);
    await sleep(LOOK_EVERY_MS);
  }
}

/** Answers the most memory that the control plane had, in bytes. */
async function submitAndWait(stack: Stack, load: Load, ledger: Ledger, clients: Clients): Promise<number> {
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, controlPlaneUsage(stack).rssBytes);
  }, 1000);
  try {
    const submitted = submitAll(stack, load, ledger, clients);
    if (load.killAfter !== null) await killAfter(load.killAfter, stack, ledger);
    await submitted;
    let [seen, since] = [0, Date.now()];
    while (ledger.endedJobs < load.jobs) {
      if (ledger.endedJobs > seen) [seen, since] = [ledger.endedJobs, Date.now()];
      if (Date.now() - since > STALLED_MS) {
        ledger.violations.push(`Only ${ledger.endedJobs} of ${load.jobs} jobs have ended`);
        break;
      }
      await sleep(LOOK_EVERY_MS);
    }
    return Math.max(most, controlPlaneUsage(stack).rssBytes);
  } finally {
    clearInterval(watch);
  }
}

async function killAfter(jobs: number, stack: Stack, ledger: Ledger): Promise<void> {
  while (ledger.endedJobs < jobs) await sleep(10);
  process.kill(stack.describe().pids.controlPlane, "SIGKILL");
}

type Clients = { readonly inbox: LoopbackServer; readonly keys: readonly string[] };

async function submitAll(stack: Stack, load: Load, ledger: Ledger, { inbox, keys }: Clients): Promise<void> {
  const { api } = stack.describe();
  const storage = storageOf(stack.describe());
  let posted = 0;
  const postAll = async (): Promise<void> => {
    while (posted < load.jobs) {
      const number = posted++;
      const postedAt = performance.now();
      const body = {
        ...{ storage, input: { url: `${inbox.origin}/film.mp4` } },
        outputs: { "mp4:240p": { path: `/load/${number}.mp4` } },
        notification: { type: "http", url: inbox.origin },
      };
      // With a key of its own, so that one that is sent again after its answer was lost makes no second job.
      const headers = { ...basic(keys[number % keys.length]), "idempotency-key": `load-${number}` };
      const { id } = z.object({ id: z.string() }).parse(await ask(`${api}/jobs`, { headers, body }, ledger));
      ledger.submitted(id, postedAt);
    }
  };
  await Promise.all(Array.from({ length: load.posting }, postAll));
}

async function newNodeToken(stack: Stack, ledger: Ledger): Promise<string> {
  const { api, adminToken } = stack.describe();
  const headers = { authorization: `Bearer ${adminToken}` };
  const made = await ask(`${api}/admin/node-tokens`, { headers, body: { name: "load" } }, ledger);
  return z.object({ node_token: z.string() }).parse(made).node_token;
}

async function newAccount(stack: Stack, ledger: Ledger): Promise<string> {
  const { api, adminToken } = stack.describe();
  const headers = { authorization: `Bearer ${adminToken}` };
  const made = await ask(`${api}/admin/accounts`, { headers, body: { name: "load" } }, ledger);
  return z.object({ api_key: z.string() }).parse(made).api_key;
}

const basic = (key = "") => ({ authorization: basicAuth(key) });

type Asked = { readonly headers: Readonly<Record<string, string>>; readonly body?: object };

/** Asks until there is an answer, as a good client does. Throws when the API refuses. */
async function ask(url: string, { headers, body }: Asked, ledger: Ledger): Promise<unknown> {
  for (;;) {
    const sent = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
    const response = await fetch(url, sent).catch(() => null);
    const text = await response?.text().catch(() => null);
    if (response?.ok && text) return JSON.parse(text);
    if (response && text && response.status < 500 && response.status !== 429) throw new Error(`${url}: ${text}`);
    ledger.retries += 1;
    await sleep(LOOK_EVERY_MS);
  }
}

/** The lists that clients read must come to show every job once, completed. */
async function checkIndex(stack: Stack, ledger: Ledger, keys: readonly string[]): Promise<void> {
  const deadline = Date.now() + STALLED_MS;
  for (;;) {
    const lists = await Promise.all(keys.map((key) => listJobs(stack.describe().api, key, ledger)));
    const listed = lists.flat();
    const completed = new Set(listed.filter(({ status }) => status === "job.completed").map(({ id }) => id));
    if (listed.length === ledger.jobs.size && completed.size === ledger.jobs.size) return;
    if (Date.now() > deadline) {
      const words = `${listed.length} listed, ${completed.size} of them different and completed`;
      ledger.violations.push(`The index does not show all ${ledger.jobs.size} jobs: ${words}`);
      return;
    }
    await sleep(LOOK_EVERY_MS);
  }
}

const Page = z.object({
  jobs: z.array(z.object({ id: z.string(), status: z.string() })),
  next_cursor: z.string().nullable(),
});

async function listJobs(api: string, key: string, ledger: Ledger): Promise<{ id: string; status: string }[]> {
  const jobs: { id: string; status: string }[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query: string = cursor ? `&cursor=${cursor}` : "";
    const page = Page.parse(await ask(`${api}/jobs?limit=100${query}`, { headers: basic(key) }, ledger));
    jobs.push(...page.jobs);
    cursor = page.next_cursor;
  }
  return jobs;
}

/** What the hub keeps on its disk, where Miniflare lays it, read when nobody else has it open. */
function ticketsOf(home: string): number {
  const folder = join(home, "control-plane", "v3", "do", "copra-NodeHub");
  const files = readdirSync(folder).filter((file) => file.endsWith(".sqlite") && file !== "metadata.sqlite");
  if (files.length === 0) throw new Error(`No hub has left its storage in ${folder}`);
  return files.reduce((sum, file) => sum + ticketsIn(join(folder, file)), 0);
}

function ticketsIn(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    // A hub that always had a slot for what it was told of has written nothing, and has no table.
    const hasTable = database.prepare("SELECT 1 FROM sqlite_master WHERE name = '_cf_KV'").get();
    const counted =
      hasTable && database.prepare("SELECT count(*) AS tickets FROM _cf_KV WHERE key LIKE 'ticket:%'").get();
    return Number(counted?.tickets ?? 0);
  } finally {
    database.close();
  }
}
