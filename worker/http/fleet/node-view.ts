// How the operator sees a node.

import type { Node, NodeDetails } from "#shared/api/node-responses.ts";
import { contractDate } from "#shared/job/job-view.ts";
import type { NodeDetail, NodeReport } from "../../rpc/hub-reports.ts";

export function viewNode({
  id,
  state,
  notReady,
  pool,
  labels,
  region,
  spot,
  slots,
  leases,
  score,
  hub,
  ...node
}: NodeReport): Node {
  const { host, version, protocol, ffmpeg, cpus, hardware, disk, connectedAt } = node;
  return {
    ...{ id, state, not_ready: [...notReady] },
    ...{ pool, labels: [...labels], region, spot, host, version, protocol, ffmpeg, cpus, hardware },
    disk: disk && { free_bytes: disk.free, total_bytes: disk.total },
    slots: { inspect: { ...slots.inspect }, encode: { ...slots.encode } },
    ...{ leases, score, connected_at: connectedAt === null ? null : contractDate(connectedAt), hub },
  };
}

export const viewNodeDetails = ({ running, capabilities, ...node }: NodeDetail): NodeDetails => ({
  ...viewNode(node),
  running: running.map(({ lease, slotClass }) => ({ lease, class: slotClass })),
  capabilities,
});

/** By pool, then by name. */
export const byPoolAndName = (one: NodeReport, other: NodeReport): number =>
  one.pool.localeCompare(other.pool) || one.id.localeCompare(other.id);
