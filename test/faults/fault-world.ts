// A whole system whose parts can fail: tests kill and freeze its nodes, and a proxy is in front of each other part.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PATIENCE_MS } from "../patience-ms.ts";
import type { JobView } from "../services/api-client.ts";
import { type SourceServer, startSourceServer } from "../services/source-server.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../services/webhook-receiver.ts";
import { startTestStack, type TestStack } from "../stack.ts";
import { type FaultNode, type LogLine, type NodeSettings, startFaultNode } from "./fault-node.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";

export interface FaultWorld {
  /** Control plane and S3 server; the nodes run outside this stack. */
  readonly stack: TestStack;
  readonly nodes: readonly FaultNode[];
  /** A proxy between each node and `proxies.api`, in the order of the nodes. */
  readonly links: readonly FaultProxy[];
  readonly sources: SourceServer;
  readonly webhooks: WebhookReceiver;
  /** Proxies in front of the sources, the control plane (for nodes), the S3 server and the webhook receiver. */
  readonly proxies: {
    readonly source: FaultProxy;
    readonly api: FaultProxy;
    readonly s3: FaultProxy;
    readonly webhook: FaultProxy;
  };
  /** The folder for the media of `sources`. */
  readonly folder: string;
  /** The URL of a file in the folder, through the proxy. */
  urlOf(file: string): string;
  /** Submits a job whose storage and notification go through the proxies. */
  submit(job: { input: object; outputs: object; settings?: object; notification?: object }): Promise<JobView>;
  /** The node that works on the job, or the last node that did. Waits until there is such a node. */
  holderOf(id: string): Promise<FaultNode>;
  /** Resolves when ffmpeg has started to encode for the job. */
  encoding(id: string | Promise<string>): Promise<void>;
  /** Removes all faults; the system keeps running. */
  calm(): void;
  close(): Promise<void>;
}

/** True if the system is `copra serve`, whose processes can all be killed (the project `served`). */
export const isServed = process.env.COPRA_TEST_STACK === "serve";

const REPORTS_BY_POST = new URL("./reports-by-post.ts", import.meta.url).href;

/**
 * Starts `nodes` nodes, or a node for each of its elements. The nodes connect later, and send their reports by POST,
 * where proxies can inject faults.
 */
export async function startFaultWorld({
  nodes = 1,
}: {
  nodes?: number | readonly NodeSettings[];
} = {}): Promise<FaultWorld> {
  const folder = mkdtempSync(join(tmpdir(), "copra-faults-"));
  const sources = await startSourceServer(folder);
  const webhooks = await startWebhookReceiver();
  const stack = await startTestStack({ nodes: 0 });
  const proxies = {
    source: await startFaultProxy(sources.origin),
    api: await startFaultProxy(new URL(stack.api).origin),
    s3: await startFaultProxy(stack.s3.endpoint),
    webhook: await startFaultProxy(new URL(webhooks.url).origin),
  };
  const settings: readonly NodeSettings[] =
    typeof nodes === "number" ? Array.from({ length: nodes }, () => ({})) : nodes;
  const links = await Promise.all(settings.map(() => startFaultProxy(proxies.api.origin)));
  const all = [...Object.values(proxies), ...links];
  const members = settings.map((setting, at) => {
    const url = links[at]?.origin ?? proxies.api.origin;
    const imports = [REPORTS_BY_POST, ...(setting.imports ?? [])];
    return startFaultNode({ ...setting, imports, name: `node-${at + 1}`, url, token: stack.nodeToken, home: folder });
  });
  return {
    stack,
    nodes: members,
    links,
    sources,
    webhooks,
    proxies,
    folder,
    urlOf: (file) => sources.urlOf(file).replace(sources.origin, proxies.source.origin),
    submit: (job) =>
      stack.submit({
        storage: { ...stack.storage, endpoint: proxies.s3.origin },
        notification: { type: "http", url: `${proxies.webhook.origin}/webhook`, events: true },
        ...job,
      }),
    holderOf: (id) => holderOf(members, id),
    encoding: async (id) => encoding(members, await id),
    calm() {
      for (const proxy of all) {
        proxy.use(null);
        proxy.restore();
      }
      for (const node of members) node.thaw();
    },
    async close() {
      await Promise.all(members.map((node) => node.end()));
      await stack.stop();
      await Promise.all([...all.map((proxy) => proxy.close()), sources.close(), webhooks.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const LOOK_EVERY_MS = 50;

/** Finds the node in its log lines about the job, or, before there are any, by the source on its disk. */
async function holderOf(nodes: readonly FaultNode[], id: string): Promise<FaultNode> {
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += LOOK_EVERY_MS) {
    const seen = nodes.flatMap((node) => {
      const lines = node.lines().filter(({ lease }) => String(lease).startsWith(`${id}.`));
      const at = lines.length > 0 ? Math.max(...lines.map(({ time }) => Date.parse(String(time)))) : 0;
      return at > 0 || node.holdsSource(id) ? [{ node, at }] : [];
    });
    const [latest] = seen.toSorted((a, b) => b.at - a.at);
    if (latest) return latest.node;
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`No node works on job ${id}`);
}

async function encoding(nodes: readonly FaultNode[], id: string): Promise<void> {
  const isBegun = ({ message, lease }: LogLine): boolean =>
    message === "ffmpeg started" && String(lease).startsWith(`${id}.encode.`);
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += LOOK_EVERY_MS) {
    if (nodes.some((node) => node.lines().some(isBegun))) return;
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`No node encodes for job ${id}`);
}
