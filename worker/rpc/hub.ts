// The calls of the hub.
import type { DurableObject } from "cloudflare:workers";
import * as z from "zod";
import type { LeaseId } from "#shared/ids.ts";
import { DEFAULT_POOL } from "#shared/placement.ts";
import type { CommandReport } from "#shared/protocol/commands.ts";
import { Requirements } from "#shared/protocol/requirements.ts";
import { SLOT_CLASSES } from "#shared/protocol/tasks.ts";
import type { HubReports, Place } from "./hub-reports.ts";
import { inJurisdiction, type JurisdictionVariable } from "./jurisdiction.ts";
import type { SeenProgress } from "./turn.ts";

/**
 * Advertises that a job has about `count` runnable tasks of a class, all with the same requirements. Times in ms since
 * 1970.
 */
export const TicketOffer = z.object({
  jobId: z.string(),
  /** The job's account. Accounts take turns. */
  accountId: z.string(),
  slotClass: z.enum(SLOT_CLASSES),
  requirements: Requirements,
  /** -50 to 50. Work of a higher priority comes before other work of the account. */
  priority: z.number(),
  /** The account's share beside other accounts, and its limit of running tasks (null: no limit). */
  weight: z.number(),
  maxRunning: z.number().nullable(),
  /** Priorities up to this one also count beside other accounts; null: accounts take turns whatever the priority. */
  maxPriority: z.number().nullable(),
  count: z.int(),
  /** Creation time of the job. The oldest job of an account is served first, however often it advertises. */
  since: z.number(),
  /** The node that has the source. The work waits for it until `preferUntil`. */
  prefer: z.string().nullable(),
  preferUntil: z.number(),
  /** Nodes that failed or lost the work. Until `avoidUntil` they get it only if no other node is connected. */
  avoid: z.array(z.string()),
  avoidUntil: z.number(),
  /** Nodes of `avoid` that failed through their own fault. */
  blamed: z.array(z.string()),
  /** True if the work was lost several times. Nodes that may be taken away at any time then get it last. */
  steady: z.boolean(),
});
export type TicketOffer = z.infer<typeof TicketOffer>;

/** Time that work waits for the node with the source before any other node may take it. */
export const PREFERENCE_MS = 2000;

/** The result of a job's offers. */
export type Advertised = {
  /**
   * Requirements that no node of the last ten minutes met, such as "a node with libsvtav1 in pool default"; null if
   * some node met them.
   */
  readonly waitingFor: string | null;
  /** Number of tasks of each offer that free nodes get at once. */
  readonly taken: readonly number[];
  /** True if the node that has the source is connected. It gets the tasks as soon as it has a free slot. */
  readonly hasSource: boolean;
};

/** A lease, and the process of the node that received it. */
export type LeaseHolder = { readonly lease: LeaseId; readonly nodeId: string; readonly session: string };

/** The hub's knowledge of a lease: its node has it, is connected without it, or is not connected to this hub. */
export type LeaseHolding = "held" | "not-held" | "not-connected";

export interface HubRpc extends DurableObject<unknown>, HubReports {
  /**
   * Accepts a node's socket. The Worker has checked the node's token and states the result in the header
   * ADMITTED_HEADER.
   */
  fetch(request: Request): Promise<Response>;
  /**
   * Advertises a job's runnable tasks: an offer for each class and requirements. A count of zero withdraws the offer.
   */
  advertise(offers: TicketOffer[]): Promise<Advertised>;
  /** Returns for each lease, in the order of the leases, whether its node has it. */
  holders(leases: LeaseHolder[]): Promise<LeaseHolding[]>;
  /** Notifies the connected nodes of ended leases to drop them. */
  revoke(leases: LeaseId[]): Promise<void>;
  /**
   * Makes the nodes of these leases report often, and sends their progress on at once, because somebody follows the job
   * until `until` (ms since 1970). Returns the last known progress.
   */
  watch(jobId: string, leases: LeaseId[], until: number): Promise<SeenProgress[]>;
  /** Counts an internal error that a report on a lease caused. A node that causes many errors is disconnected. */
  reportFailed(lease: LeaseId): Promise<void>;
  /** Closes the sockets of a revoked node token. */
  revokeToken(id: string): Promise<void>;
  /** The number of encodes that the connected nodes can run at the same time, including running encodes. */
  capacity(): Promise<number>;
  /** The place of a job among the jobs that wait for the same nodes; null: no task of the job waits here. */
  place(jobId: string): Promise<Place | null>;
  /** The ffmpeg runs that the nodes of these leases report now, for each lease in their order. */
  running(leases: LeaseId[]): Promise<CommandReport[][]>;
  stats(): Promise<{ nodes: number; tickets: number }>;
}

/** Carries the Worker's result of checking a node: JSON of `Admitted` (dispatch/node-about.ts). */
export const ADMITTED_HEADER = "copra-node-admitted";

export type HubBinding = { HUB: DurableObjectNamespace<HubRpc> } & JurisdictionVariable;

/** The name of a pool's hub. The hub has the sockets of all nodes of the pool: about 1500 (docs/operating.md). */
export const hubName = (pool: string): string => `hub:${pool}`;

/** The stub of a pool's hub. */
export const hubOf = (env: HubBinding, pool: string = DEFAULT_POOL): DurableObjectStub<HubRpc> =>
  inJurisdiction(env.HUB, env).getByName(hubName(pool));
