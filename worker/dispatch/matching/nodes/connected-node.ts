// A connected node as it is stored in its socket's attachment: its profile, its free slots and its leases.
import * as z from "zod";
import { parseLeaseId, waitsForOthers } from "#shared/ids.ts";
import { Profile } from "#shared/protocol/requirements.ts";
import { SLOT_CLASSES, type SlotClass, SlotCounts } from "#shared/protocol/tasks.ts";
import { MAX_LEASES, MAX_SLOTS } from "#shared/report-limits.ts";
import type { LeaseHolder, LeaseHolding } from "../../../rpc/hub.ts";

/** The leases of a node, each with the class of its slot. */
const HeldLeases = z.record(z.string(), z.enum(SLOT_CLASSES));
export type HeldLeases = z.infer<typeof HeldLeases>;

export const ConnectedNode = z.object({
  nodeId: z.string(),
  session: z.string(),
  profile: Profile,
  /** Offered slots that the hub has not yet used. */
  free: SlotCounts,
  /** Assigned leases that the node has not released. */
  leases: HeldLeases,
  /** The accounts of these leases' jobs, by job id, if known. */
  accounts: z.record(z.string(), z.string()),
  /** True if it accepts no more work on this connection. */
  draining: z.boolean(),
  /** Time of the node's last frame, as of the last update; ms since 1970. */
  heardAt: z.number(),
});
export type ConnectedNode = z.infer<typeof ConnectedNode>;

/** The free slots after a node offers more slots, within MAX_SLOTS and MAX_LEASES. */
export function addSlots(
  { free, leases }: Pick<ConnectedNode, "free" | "leases">,
  { inspect, encode }: SlotCounts,
): SlotCounts {
  const room = Math.max(0, MAX_LEASES - Object.keys(leases).length);
  const ofEncode = Math.min(free.encode + encode, MAX_SLOTS, room);
  return { encode: ofEncode, inspect: Math.min(free.inspect + inspect, MAX_SLOTS, room - ofEncode) };
}

/** The account of a lease's job; "" if unknown. */
export const accountOf = ({ accounts }: Pick<ConnectedNode, "accounts">, lease: string): string =>
  accounts[parseLeaseId(lease)?.job ?? ""] ?? "";

/** State of a lease at its node. Another process of the node does not hold the lease. */
export function holdingOf(node: ConnectedNode | null, { session, lease }: LeaseHolder): LeaseHolding {
  if (!node) return "not-connected";
  return node.session === session && Object.hasOwn(node.leases, lease) ? "held" : "not-held";
}

/** The number of running encodes. */
export const busyEncodesOf = (leases: HeldLeases): number =>
  Object.entries(leases).filter(([lease, slotClass]) => slotClass === "encode" && !waitsForOthers(lease)).length;

/** The number of concurrent encodes of a node, including running encodes. */
export const encodesOf = ({ free, leases }: ConnectedNode): number => free.encode + busyEncodesOf(leases);

/** Adds leases of a ticket's job to a node's leases. Removes the accounts of jobs without a lease. */
export function holding(
  { leases, accounts }: Pick<ConnectedNode, "leases" | "accounts">,
  added: readonly { readonly lease: string; readonly slotClass: SlotClass }[],
  { jobId, accountId }: { readonly jobId: string; readonly accountId: string },
): Pick<ConnectedNode, "leases" | "accounts"> {
  const all = { ...leases, ...Object.fromEntries(added.map(({ lease, slotClass }) => [lease, slotClass])) };
  const jobs = new Set<string>(Object.keys(all).map((lease) => parseLeaseId(lease)?.job ?? ""));
  const ofJobs = Object.entries({ ...accounts, [jobId]: accountId }).filter(([job]) => jobs.has(job));
  return { leases: all, accounts: Object.fromEntries(ofJobs) };
}
