// Starts and stops the whole system on one machine: S3 server, control plane and encoder nodes. Each runs in a process
// that is restarted when it exits.
import { mkdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { BUCKET, origin, S3_REGION } from "../home/constants.ts";
import { loadSecrets } from "../home/secrets.ts";
import { LOCAL_SERVICE } from "../home/service-settings.ts";
import type { StackSettings } from "../home/settings.ts";
import { removeStackFile, type StackFile, writeStackFile } from "../home/stack-file.ts";
import { Children } from "../processes/children.ts";
import { killLeftovers, removeProcessRecord, runningStackPid } from "../processes/process-record.ts";
import { ensureAccess } from "./access.ts";
import { becomesFree, findFree } from "./ports.ts";
import { controlPlanePlan, isNode, nodePlan, s3Plan } from "./process-plans.ts";
import { connectedNodes, s3Responds, waitUntil } from "./readiness.ts";

export interface Stack {
  readonly home: string;
  /** URLs, credentials and pids. Pids change after a restart of a process. */
  describe(): StackFile;
  /** The secret that signs the account's webhooks. */
  readonly webhookSecret: string;
  /**
   * Restarts the control plane or the nodes, so that they run the current files. Nodes have some time to finish their
   * tasks.
   */
  restart(part: StackPart): void;
  /** Stops all processes in order. Nodes may finish their tasks for `drainMs`. */
  stop(drainMs?: number): Promise<void>;
  /** Aborts the nodes' tasks while `stop` waits for them; the next start of the system resumes the jobs. */
  abortTasks(): void;
}

export type StackPart = "control plane" | "nodes";

export type StackOptions = {
  /** Gets messages about processes that exit; standard error by default. */
  readonly notify?: (message: string) => void;
  /** Gets a message for each part of the system that is ready. */
  readonly progress?: (message: string) => void;
  /** Called before the processes start, if none runs on the home folder. */
  readonly prepare?: () => void;
  /** Aborts the start. */
  readonly signal?: AbortSignal;
};

/** The workerd of a killed stack keeps its port for a second or two. */
const PORT_WAIT_MS = 4000;
/** The workerd of a killed control plane ends within two rounds of its watch (control-plane/run-workerd.sh). */
const WORKERD_END_MS = 2500;
/** Only a hanging system takes this long: a process that exits ends the wait at once. */
const READY_LIMIT_MS = 180_000;
/** An instance of a cluster hands its objects over for up to 8 s (workerd.capnp, stopTimeoutMs). */
const STOP_GRACE_MS = 10_000;
const DRAIN_MS = 20_000;

/** Starts the system and waits until it accepts jobs. If it throws a message for people, it leaves nothing running. */
export async function startStack(wanted: StackSettings, options: StackOptions = {}): Promise<Stack> {
  const { home } = wanted;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const pid = runningStackPid(home);
  if (pid !== null) {
    throw new Error(
      `A Copra already runs in ${home} (process ${pid}). Stop it with Ctrl-C or \`kill ${pid}\`, ` +
        "or set COPRA_HOME, COPRA_PORT and COPRA_S3_PORT to run a second system.",
    );
  }
  const hasCrashed = await killLeftovers(home);
  removeStackFile(home);
  if (options.prepare) {
    if (hasCrashed) await sleep(WORKERD_END_MS);
    options.prepare();
  }
  const settings = await withPorts(wanted);
  const children = new Children(home, options.notify ?? ((message) => console.error(message)));
  try {
    return await startChildren(settings, children, options);
  } catch (error) {
    await stopChildren(children, 0);
    throw error;
  }
}

/** Another program listens on a port of the settings. */
export class PortInUse extends Error {}

async function withPorts(wanted: StackSettings): Promise<StackSettings> {
  const port = wanted.port || (await findFree(wanted.s3Port));
  const s3Port = wanted.s3Port || (await findFree(port));
  for (const [variable, number] of Object.entries({ COPRA_PORT: port, COPRA_S3_PORT: s3Port })) {
    if (await becomesFree(number, PORT_WAIT_MS)) continue;
    throw new PortInUse(
      `Port ${number} is in use by another program. Stop that program (\`lsof -i :${number}\` shows it), ` +
        `or choose another port: ${variable}=0 takes any free port.`,
    );
  }
  return { ...wanted, port, s3Port };
}

async function startChildren(
  settings: StackSettings,
  children: Children,
  { signal, progress = () => {} }: StackOptions,
): Promise<Stack> {
  const { home, port, s3Port } = settings;
  const limits = { limitMs: READY_LIMIT_MS, signal };
  const api = `${origin(port)}/v2`;
  const secrets = loadSecrets(home);
  const endpoint = origin(s3Port);

  const { ownS3, s3Url } = settings.service ?? LOCAL_SERVICE;
  const s3 = ownS3 ? [children.start(s3Plan(settings))] : [];
  const controlPlane = children.start(controlPlanePlan(settings));
  if (ownS3) {
    const noS3 = "The S3 server does not respond";
    await waitUntil(() => s3Responds(endpoint), { failure: noS3, children: s3, ...limits });
    progress(`S3 server ready at ${endpoint}`);
  }
  const responds = async (): Promise<boolean> => (await connectedNodes(api)) !== null;
  const noControlPlane = "The control plane does not respond";
  await waitUntil(responds, { failure: noControlPlane, children: [controlPlane, ...s3], ...limits });
  progress(`Control plane ready at ${api}`);

  const { apiKey, webhookSecret, nodeToken } = await ensureAccess(api, home, secrets);
  const numbers = Array.from({ length: settings.nodes }, (_, index) => index + 1);
  const nodes = numbers.map((number) => children.start(nodePlan(settings, nodeToken, number)));
  const connected = async (): Promise<boolean> => ((await connectedNodes(api)) ?? 0) >= nodes.length;
  await waitUntil(connected, { failure: "Not all encoder nodes have connected", children: children.all, ...limits });
  progress(`${nodes.length} encoder ${nodes.length === 1 ? "node" : "nodes"} connected`);

  const describe = (): StackFile => ({
    api,
    apiKey,
    adminToken: secrets.adminToken,
    nodeToken,
    s3: { endpoint: ownS3 ? (s3Url ?? endpoint) : "", region: S3_REGION, bucket: BUCKET, ...secrets.s3 },
    pids: { controlPlane: controlPlane.pid(), s3: s3[0]?.pid() ?? 0, nodes: nodes.map((node) => node.pid()) },
  });
  children.watch(() => writeStackFile(home, describe()));
  let stopped: Promise<void> | undefined;
  return {
    home,
    describe,
    webhookSecret,
    restart(part) {
      if (part === "control plane") controlPlane.restart(STOP_GRACE_MS);
      else for (const node of nodes) node.restart(DRAIN_MS);
    },
    stop: (drainMs = DRAIN_MS) => (stopped ??= stopChildren(children, drainMs)),
    abortTasks() {
      for (const node of nodes) node.terminate();
    },
  };
}

/** Stops the nodes first, because their last reports need the control plane and the storage. */
async function stopChildren(children: Children, drainMs: number): Promise<void> {
  const services = children.all.filter(({ plan }) => !isNode(plan));
  await Promise.all(children.all.filter(({ plan }) => isNode(plan)).map((node) => node.stop(drainMs)));
  for (const service of services.toReversed()) await service.stop(STOP_GRACE_MS);
  removeProcessRecord(children.home);
  removeStackFile(children.home);
}
