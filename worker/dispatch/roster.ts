// What the hub knows of a connected node. It lies in the socket's attachment, so that it outlives hibernation.

import * as z from "zod";
import { Capabilities, SlotCounts } from "#shared/protocol.ts";

export const ConnectedNode = z.object({
  nodeId: z.string(),
  session: z.string(),
  capabilities: Capabilities,
  /** Slots that the node has granted and the hub has not used. */
  free: SlotCounts,
  /** Leases that the node was given and has not released. */
  leases: z.array(z.string()),
  /** It wants no more work on this connection. */
  draining: z.boolean(),
});
export type ConnectedNode = z.infer<typeof ConnectedNode>;

export const addSlots = (one: SlotCounts, other: SlotCounts): SlotCounts => ({
  inspect: one.inspect + other.inspect,
  encode: one.encode + other.encode,
});
