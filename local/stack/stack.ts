// The whole system on one machine: S3 server, control plane and encoder nodes, each a process of its own that is
// started again when it dies.
import { mkdirSync } from "node:fs";
import { ensureAccess } from "./access.ts";
import { Family } from "./family.ts";
import { BUCKET, origin, S3_REGION } from "./places.ts";
import { becomesFree, findFree } from "./ports.ts";
import { clearLeftovers, forgetProcesses, runningOwner } from "./processes.ts";
import { connectedNodes, s3Answers, waitUntil } from "./readiness.ts";
import { loadSecrets } from "./secrets.ts";
import type { StackSettings } from "./settings.ts";
import { removeStackFile, type StackFile, writeStackFile } from "./stack-file.ts";
import { controlPlanePlan, nodePlan, s3Plan } from "./stack-plans.ts";

export interface Stack {
  readonly home: string;
  /** Where everything is now: pids change when a process had to be started again. */
  describe(): StackFile;
  /** What the account's webhooks are signed with. */
  readonly webhookSecret: string;
  /** Ends everything in order. Nodes may finish what they work on for `drainMs`. */
  stop(drainMs?: number): Promise<void>;
  /** Ends the nodes' work at once while `stop` waits for it; others get it when the system is started again. */
  cutOff(): void;
}

export type StackOptions = {
  /** Gets words for people; standard error by default. */
  readonly tell?: (words: string) => void;
  /** Gives up starting. */
  readonly signal?: AbortSignal;
};

/** A killed predecessor's workerd holds its port for a second or two. */
const PORT_WAIT_MS = 4000;
const READY_LIMIT_MS = 60_000;
const STOP_GRACE_MS = 5000;
const DRAIN_MS = 20_000;

/** Starts the system and waits until it can take jobs. Throws words for people, with nothing left running. */
export async function startStack(wanted: StackSettings, options: StackOptions = {}): Promise<Stack> {
  const { home } = wanted;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const owner = runningOwner(home);
  if (owner !== null) throw new Error(`A stack already runs on ${home} (process ${owner}). Stop it or set COPRA_HOME.`);
  await clearLeftovers(home);
  removeStackFile(home);
  const settings = await withPorts(wanted);
  const family = new Family(home, options.tell ?? ((words) => console.error(words)));
  try {
    return await startParts(settings, family, options.signal);
  } catch (error) {
    await stopParts(family, 0);
    throw error;
  }
}

async function withPorts(wanted: StackSettings): Promise<StackSettings> {
  const port = wanted.port || (await findFree(wanted.s3Port));
  const s3Port = wanted.s3Port || (await findFree(port));
  for (const [variable, number] of Object.entries({ COPRA_PORT: port, COPRA_S3_PORT: s3Port })) {
    if (await becomesFree(number, PORT_WAIT_MS)) continue;
    throw new Error(`Port ${number} is taken by another program. Stop that, or set ${variable} to another port.`);
  }
  return { ...wanted, port, s3Port };
}

async function startParts(settings: StackSettings, family: Family, signal: AbortSignal | undefined): Promise<Stack> {
  const { home, port, s3Port } = settings;
  const limits = { limitMs: READY_LIMIT_MS, signal };
  const api = `${origin(port)}/v2`;
  const secrets = loadSecrets(home);
  const endpoint = origin(s3Port);

  const s3 = family.start(s3Plan(settings));
  const controlPlane = family.start(controlPlanePlan(settings));
  await waitUntil("The S3 server does not answer", () => s3Answers(endpoint), [s3], limits);
  const answers = async (): Promise<boolean> => (await connectedNodes(api)) !== null;
  await waitUntil("The control plane does not answer", answers, [controlPlane, s3], limits);

  const { apiKey, webhookSecret, nodeToken } = await ensureAccess(api, home, secrets);
  const numbers = Array.from({ length: settings.nodes }, (_, index) => index + 1);
  const nodes = numbers.map((number) => family.start(nodePlan(settings, nodeToken, number)));
  const connected = async (): Promise<boolean> => ((await connectedNodes(api)) ?? 0) >= nodes.length;
  await waitUntil("Not all encoder nodes have connected", connected, family.members, limits);

  const describe = (): StackFile => ({
    api,
    apiKey,
    adminToken: secrets.adminToken,
    nodeToken,
    s3: { endpoint, region: S3_REGION, bucket: BUCKET, ...secrets.s3 },
    pids: { controlPlane: controlPlane.pid(), s3: s3.pid(), nodes: nodes.map((node) => node.pid()) },
  });
  family.watch(() => writeStackFile(home, describe()));
  let stopped: Promise<void> | undefined;
  const stop = (drainMs = DRAIN_MS): Promise<void> => (stopped ??= stopParts(family, drainMs));
  const cutOff = (): void => {
    for (const node of nodes) node.hurry();
  };
  return { home, describe, webhookSecret, stop, cutOff };
}

/** Nodes first, which may need the control plane and the storage for their last words; then the others. */
async function stopParts(family: Family, drainMs: number): Promise<void> {
  const [s3, controlPlane, ...nodes] = family.members;
  await Promise.all(nodes.map((node) => node.stop(drainMs)));
  await controlPlane?.stop(STOP_GRACE_MS);
  await s3?.stop(STOP_GRACE_MS);
  forgetProcesses(family.home);
  removeStackFile(family.home);
}
