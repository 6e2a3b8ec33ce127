// The operator's side of a hub: its nodes, their limits, and the waiting work.

import type { NodeDetails } from "#shared/api/node-responses.ts";
import type { HubReport, HubReports, NodeReport, NodeSteps } from "../../rpc/hub-reports.ts";
import type { NodeConnections, SocketNode } from "../connections/node-connections.ts";
import type { Matcher } from "../jobs/matcher.ts";
import { type Cordon, storedCordons } from "./cordons.ts";
import { GoneNodes } from "./gone-nodes.ts";
import { type NodeContext, stateOf, viewNode, viewNodeDetails, viewOffline } from "./node-report.ts";
import type { StoredNodes } from "./stored-nodes.ts";

type OperatorDeps = { readonly kv: SyncKvStorage; readonly nodes: NodeConnections; readonly matcher: Matcher };

/** An offline node runs nothing, and its capabilities are not kept. */
const detailsOf = (report: NodeReport | null): NodeDetails | null =>
  report && { ...report.node, running: [], capabilities: null };

export class Operator implements HubReports {
  readonly #deps: OperatorDeps;
  readonly #cordons: StoredNodes<Cordon>;
  readonly #gone: GoneNodes;

  /** Loads cordons and gone nodes from disk. */
  constructor(deps: OperatorDeps) {
    this.#deps = deps;
    this.#cordons = storedCordons(deps.kv);
    this.#gone = new GoneNodes(deps.kv);
    for (const nodeId of this.#cordons.ids()) deps.matcher.matching.limits.cordon(nodeId, true, Date.now());
  }

  async nodes(): Promise<NodeReport[]> {
    const connected = [...this.#deps.nodes.roster.values()];
    const absent = new Set([...this.#cordons.ids(), ...this.#gone.list(Date.now()).map(([id]) => id)]);
    return [
      ...connected.map((node) => ({ node: viewNode(node, this.#contextOf(node)), lostAt: null })),
      ...[...absent].flatMap((id) => this.#offline(id) ?? []),
    ];
  }

  async node(id: string): Promise<NodeDetails | null> {
    const node = this.#deps.nodes.roster.get(id);
    return node ? viewNodeDetails(node, this.#contextOf(node)) : detailsOf(this.#offline(id));
  }

  async history(id: string): Promise<NodeSteps | null> {
    const { nodes } = this.#deps;
    const node = nodes.roster.get(id);
    if (!node && !this.#offline(id)) return null;
    return { isConnected: node !== null, steps: nodes.history.of(id, node, Date.now()) };
  }

  /** A node that is cordoned or gone; null if it is connected. */
  #offline(id: string): NodeReport | null {
    if (this.#deps.nodes.roster.get(id)) return null;
    const [cordon, gone] = [this.#cordons.get(id), this.#gone.get(id, Date.now())];
    const lostAt = gone && !gone.isStopped ? gone.goneAt : null;
    return cordon || gone ? { node: viewOffline(id, { cordon, gone }), lostAt } : null;
  }

  async forget(id: string): Promise<NodeDetails | null> {
    const node = detailsOf(this.#offline(id));
    if (!node) return null;
    this.#cordons.delete(id);
    this.#gone.delete(id);
    this.#deps.matcher.matching.limits.cordon(id, false, Date.now());
    return node;
  }

  async cordon(id: string, isCordoned: boolean): Promise<NodeDetails | null> {
    const before = await this.node(id);
    if (!before) return null;
    if (!isCordoned) this.#cordons.delete(id);
    else if (!this.#cordons.get(id)) this.#cordons.set(id, { pool: before.pool, draining: null });
    this.#deps.matcher.matching.limits.cordon(id, isCordoned, Date.now());
    await this.#deps.matcher.match();
    return (await this.node(id)) ?? { ...before, state: "ready" };
  }

  async drain(id: string): Promise<NodeDetails | null> {
    const node = this.#deps.nodes.roster.get(id);
    if (!node) return null;
    this.#cordons.set(id, { pool: node.profile.pool, draining: node.session });
    this.#deps.nodes.send(node, { type: "drain" });
    return this.cordon(id, true);
  }

  /** Handles a new connection. A node that was asked to drain may have missed the request. */
  welcomed(node: SocketNode): void {
    this.#gone.delete(node.nodeId);
    if (this.#cordons.get(node.nodeId)?.draining === node.session) this.#deps.nodes.send(node, { type: "drain" });
  }

  /** Handles the end of a node's connection. */
  lost(node: SocketNode): void {
    if (!this.#deps.nodes.roster.get(node.nodeId)) this.#gone.add(node, Date.now());
  }

  async demand(): Promise<HubReport> {
    const { matcher, nodes } = this.#deps;
    const kinds = new Map<string, HubReport["nodes"][number]>();
    const fonts = new Set<string>();
    for (const node of nodes.roster.values()) {
      const { pool, capabilities } = node.profile;
      const state = stateOf(node, this.#contextOf(node));
      for (const font of capabilities.fonts ?? []) fonts.add(font);
      const hardware = capabilities.hardware?.name ?? null;
      const key = [pool, state, hardware].join("\n");
      kinds.set(key, { pool, state, hardware, count: (kinds.get(key)?.count ?? 0) + 1 });
    }
    const queues = matcher.matching.demand(Date.now()).map(({ pool, slotClass, waiting, running, oldestMs, meanS }) => {
      const free = nodes.roster.sums.free(pool, slotClass);
      return { pool, slotClass, free, running, waiting, oldestWaitMs: oldestMs, meanTaskMs: meanS * 1000 };
    });
    return { nodes: [...kinds.values()], queues, tasks: matcher.matching.tasks.report(), fonts: [...fonts].sort() };
  }

  #contextOf(node: SocketNode): NodeContext {
    const { matcher, nodes } = this.#deps;
    const { limits } = matcher.matching;
    return {
      cordon: this.#cordons.get(node.nodeId),
      allowance: limits.allowanceOf(node.nodeId, Date.now()),
      score: limits.scoreOf(node.nodeId),
      capabilities: nodes.capabilitiesOf(node.about),
    };
  }
}
