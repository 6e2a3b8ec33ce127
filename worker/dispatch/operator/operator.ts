// The operator's side of a hub: its nodes, which of them get work, and the work that waits.

import { groupsOf, namesOf, parseHubLayout, preferredOf } from "../../rpc/hub-layout.ts";
import type { HubReport, HubReports, NodeDetail, NodeReport } from "../../rpc/hub-reports.ts";
import type { Matcher } from "../matcher.ts";
import type { NodeConnections, SocketNode } from "../node-connections.ts";
import { Cordons } from "./cordons.ts";
import { type NodeContext, reportNode, reportNodeDetail, reportOffline, stateOf } from "./node-report.ts";

type OperatorDeps = {
  readonly kv: SyncKvStorage;
  readonly nodes: NodeConnections;
  readonly matcher: Matcher;
  /** The name of this hub. */
  readonly hub: string;
};

export class Operator implements HubReports {
  readonly #deps: OperatorDeps;
  readonly #cordons: Cordons;

  /** Starts with the cordons on disk. */
  constructor(deps: OperatorDeps) {
    this.#deps = deps;
    this.#cordons = new Cordons(deps.kv);
    for (const [nodeId] of this.#cordons.entries()) deps.matcher.cordon(nodeId, true);
  }

  async nodes(): Promise<NodeReport[]> {
    const connected = [...this.#deps.nodes.roster.values()].map((node) => reportNode(node, this.#contextOf(node)));
    const ids = new Set(connected.map(({ id }) => id));
    const offline = [...this.#cordons.entries()].filter(([id]) => !ids.has(id));
    return [...connected, ...offline.map(([id, cordon]) => reportOffline(id, this.#deps.hub, cordon))];
  }

  async node(id: string): Promise<NodeDetail | null> {
    const node = this.#deps.nodes.roster.get(id);
    if (node) return reportNodeDetail(node, this.#contextOf(node));
    const cordon = this.#cordons.get(id);
    return cordon && reportOffline(id, this.#deps.hub, cordon);
  }

  async cordon(id: string, isCordoned: boolean): Promise<NodeDetail | null> {
    const before = await this.node(id);
    if (!before) return null;
    if (!isCordoned) this.#cordons.delete(id);
    else if (!this.#cordons.get(id)) this.#cordons.set(id, { pool: before.pool, draining: null });
    this.#deps.matcher.cordon(id, isCordoned);
    await this.#deps.matcher.match();
    return (await this.node(id)) ?? { ...before, state: "ready" };
  }

  async drain(id: string): Promise<NodeDetail | null> {
    const node = this.#deps.nodes.roster.get(id);
    if (!node) return null;
    this.#cordons.set(id, { pool: node.profile.pool, draining: node.session });
    this.#deps.nodes.send(node, { type: "drain" });
    return this.cordon(id, true);
  }

  /** A node has connected: one that was asked to drain may not have heard it. */
  welcomed(node: SocketNode): void {
    if (this.#cordons.get(node.nodeId)?.draining === node.session) this.#deps.nodes.send(node, { type: "drain" });
  }

  async demand(hubs: string): Promise<HubReport> {
    const { matcher, nodes, hub } = this.#deps;
    const counts = countsAt(hub, hubs);
    const kinds = new Map<string, HubReport["nodes"][number]>();
    for (const node of nodes.roster.values()) {
      const { pool, capabilities } = node.profile;
      const state = stateOf(node, this.#contextOf(node));
      const hardware = capabilities.hardware?.name ?? null;
      const key = [pool, state, hardware].join("\n");
      kinds.set(key, { pool, state, hardware, count: (kinds.get(key)?.count ?? 0) + 1 });
    }
    const queues = matcher.demand(counts).map(({ pool, slotClass, waiting, running, oldestMs, meanS }) => {
      const free = nodes.roster.free(pool, slotClass);
      return { pool, slotClass, free, running, waiting, oldestWaitMs: oldestMs, meanTaskMs: meanS * 1000 };
    });
    return { nodes: [...kinds.values()], queues, tasks: matcher.tasks() };
  }

  #contextOf(node: SocketNode): NodeContext {
    const { hub, matcher, nodes } = this.#deps;
    return {
      ...{ hub, cordon: this.#cordons.get(node.nodeId), allowance: matcher.allowanceOf(node.nodeId) },
      ...{ score: matcher.scoreOf(node.nodeId), capabilities: nodes.capabilitiesOf(node.about) },
    };
  }
}

/** A job advertises to several hubs of its pool: the one that it prefers counts its tickets. */
export function countsAt(hub: string, layoutText: string): (pool: string, jobId: string) => boolean {
  const layout = parseHubLayout(layoutText);
  const hubsOf = new Map<string, readonly string[]>();
  return (pool, jobId) => {
    const known = hubsOf.get(pool);
    const names = known ?? groupsOf(layout, pool).flatMap(namesOf);
    if (!known) hubsOf.set(pool, names);
    return names.length < 2 ? names[0] === hub : preferredOf(names, jobId) === hub;
  };
}
