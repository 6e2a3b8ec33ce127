// The operator's view of a node, in the API's shape. Pure.
import type { Node, NodeDetails, NodeState, SlotUse } from "#shared/api/node-responses.ts";
import { contractDate } from "#shared/job/job-view.ts";
import type { Capabilities } from "#shared/protocol/capabilities.ts";
import { PROTOCOL_VERSION } from "#shared/protocol/frames.ts";
import type { SlotClass } from "#shared/protocol/tasks.ts";
import { hubName } from "../../rpc/hub.ts";
import type { SocketNode } from "../connections/node-connections.ts";
import type { Allowance } from "../matching/nodes/node-limits.ts";
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

export function viewNode(node: ListedNode, context: NodeContext): Node {
  const { profile, about, leases } = node;
  const { score, capabilities } = context;
  const { host, version, disk, connectedAt } = about;
  return {
    id: node.nodeId,
    state: stateOf(node, context),
    not_ready: about.notReady,
    pool: profile.pool,
    labels: profile.labels,
    region: profile.region,
    spot: profile.spot,
    host,
    version,
    protocol: PROTOCOL_VERSION,
    ffmpeg: capabilities?.ffmpegVersion ?? null,
    cpus: capabilities?.cpus ?? null,
    hardware: profile.capabilities.hardware?.name ?? null,
    disk: disk && { free_bytes: disk.free, total_bytes: disk.total },
    slots: { inspect: slotsOf(node, "inspect"), encode: slotsOf(node, "encode") },
    leases: Object.keys(leases).length,
    score,
    connected_at: contractDate(connectedAt),
    last_seen_at: null,
    lost_leases: [],
    hub: hubName(profile.pool),
  };
}

export const viewNodeDetails = (node: ListedNode, context: NodeContext): NodeDetails => ({
  ...viewNode(node, context),
  running: Object.entries(node.leases).map(([lease, slotClass]) => ({ lease, class: slotClass })),
  capabilities: context.capabilities,
});

/** A node that is not connected. At least one of `cordon` and `gone` is given. */
export function viewOffline(
  id: string,
  { cordon, gone }: { readonly cordon: Cordon | null; readonly gone: GoneNode | null },
): Node {
  const { pool = cordon?.pool ?? "", labels = [], host = null, version = null, spot = false } = gone ?? {};
  return {
    id,
    state: cordon ? "offline" : "gone",
    not_ready: [],
    pool,
    labels,
    region: null,
    spot,
    host,
    version,
    protocol: null,
    ffmpeg: null,
    cpus: null,
    hardware: null,
    disk: null,
    slots: { inspect: NO_SLOTS, encode: NO_SLOTS },
    leases: 0,
    score: 0,
    connected_at: null,
    last_seen_at: gone && contractDate(gone.goneAt),
    lost_leases: gone?.leases ?? [],
    hub: hubName(pool),
  };
}

export function stateOf(
  { draining, session, about: { notReady } }: Pick<ListedNode, "draining" | "session" | "about">,
  { cordon, allowance }: Pick<NodeContext, "cordon" | "allowance">,
): NodeState {
  if (draining || cordon?.draining === session) return "draining";
  if (cordon) return "cordoned";
  if (notReady.length > 0) return "not_ready";
  return allowance === "all" ? "ready" : "quarantined";
}

const NO_SLOTS: SlotUse = { free: 0, running: 0 };

const slotsOf = ({ free, leases }: ListedNode, slotClass: SlotClass): SlotUse => ({
  free: free[slotClass],
  running: Object.values(leases).filter((held) => held === slotClass).length,
});
