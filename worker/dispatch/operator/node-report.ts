// Builds the operator's view of a node. Pure.
import type { NodeState } from "#shared/api/node-responses.ts";
import type { Capabilities } from "#shared/protocol/capabilities.ts";
import { PROTOCOL_VERSION } from "#shared/protocol/frames.ts";
import { SLOT_CLASSES, type SlotClass } from "#shared/protocol/tasks.ts";
import { hubName } from "../../rpc/hub.ts";
import type { NodeDetail, NodeReport, SlotUse } from "../../rpc/hub-reports.ts";
import type { SocketNode } from "../connections/node-connections.ts";
import type { Allowance } from "../matching/nodes/health.ts";
import type { Cordon } from "./cordons.ts";
import type { GoneNode } from "./gone-nodes.ts";

type ListedNode = Omit<SocketNode, "socket">;

/** Facts that the hub knows about a node beside the node itself. */
export type NodeContext = {
  readonly cordon: Cordon | null;
  readonly allowance: Allowance;
  readonly score: number;
  readonly capabilities: Capabilities | null;
};

export function reportNode(node: ListedNode, context: NodeContext): NodeReport {
  const { profile, about, leases } = node;
  const { score, capabilities } = context;
  const { host, version, disk, connectedAt } = about;
  return {
    id: node.nodeId,
    hub: hubName(profile.pool),
    state: stateOf(node, context),
    notReady: about.notReady,
    pool: profile.pool,
    labels: profile.labels,
    region: profile.region,
    spot: profile.spot,
    host,
    version,
    protocol: PROTOCOL_VERSION,
    disk,
    connectedAt,
    lastSeenAt: null,
    lostLeases: [],
    isStopped: false,
    ffmpeg: capabilities?.ffmpegVersion ?? null,
    cpus: capabilities?.cpus ?? null,
    hardware: profile.capabilities.hardware?.name ?? null,
    slots: slotsOf(node),
    leases: Object.keys(leases).length,
    score,
  };
}

export const reportNodeDetail = (node: ListedNode, context: NodeContext): NodeDetail => ({
  ...reportNode(node, context),
  running: Object.entries(node.leases).map(([lease, slotClass]) => ({ lease, slotClass })),
  capabilities: context.capabilities,
});

/** Reports a node that is not connected. At least one of `cordon` and `gone` is given. */
export const reportOffline = (
  id: string,
  { cordon, gone }: { readonly cordon: Cordon | null; readonly gone: GoneNode | null },
): NodeDetail => ({
  id,
  hub: hubName(gone?.pool ?? cordon?.pool ?? ""),
  state: cordon ? "offline" : "gone",
  notReady: [],
  pool: gone?.pool ?? cordon?.pool ?? "",
  labels: gone?.labels ?? [],
  region: null,
  spot: gone?.spot ?? false,
  host: gone?.host ?? null,
  version: gone?.version ?? null,
  protocol: null,
  ffmpeg: null,
  cpus: null,
  hardware: null,
  disk: null,
  slots: { inspect: { free: 0, running: 0 }, encode: { free: 0, running: 0 } },
  leases: 0,
  score: 0,
  connectedAt: null,
  lastSeenAt: gone?.goneAt ?? null,
  lostLeases: gone?.leases ?? [],
  isStopped: gone?.isStopped ?? false,
  running: [],
  capabilities: null,
});

export function stateOf(
  { draining, session, about: { notReady } }: Pick<ListedNode, "draining" | "session" | "about">,
  { cordon, allowance }: Pick<NodeContext, "cordon" | "allowance">,
): NodeState {
  if (draining || cordon?.draining === session) return "draining";
  if (cordon) return "cordoned";
  if (notReady.length > 0) return "not_ready";
  return allowance === "all" ? "ready" : "quarantined";
}

function slotsOf({ free, leases }: ListedNode): Record<SlotClass, SlotUse> {
  const running = Object.values(leases);
  const entries = SLOT_CLASSES.map((slotClass) => [
    slotClass,
    { free: free[slotClass], running: running.filter((one) => one === slotClass).length },
  ]);
  return Object.fromEntries(entries);
}
