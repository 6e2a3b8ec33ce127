// The calls of the hub.
import type { DurableObject } from "cloudflare:workers";
import * as z from "zod";
import type { LeaseId } from "#shared/ids.ts";
import { DEFAULT_POOL } from "#shared/placement.ts";
import type { ProgressItem } from "#shared/protocol/frames.ts";
import { NO_REQUIREMENTS, Requirements } from "#shared/protocol/requirements.ts";
import { SLOT_CLASSES } from "#shared/protocol/tasks.ts";
import type { HubReports, Place } from "./hub-reports.ts";

/**
 * Advertises that a job has about `count` runnable tasks of a class that require the same of a node. Times in ms since
 * 1970.
 */
export const TicketOffer = z.object({
  jobId: z.string(),
  /** The job's account: accounts take turns. */
  accountId: z.string(),
  slotClass: z.enum(SLOT_CLASSES),
  requirements: Requirements.default(NO_REQUIREMENTS),
  /** -50 to 50: work of a higher priority is assigned first. */
  priority: z.number().default(0),
  /** The account's share beside other accounts, and how many tasks of it may run at a time; null: any number. */
  weight: z.number().default(1),
  maxRunning: z.number().nullable().default(null),
  count: z.int(),
  /** When the job was created: the oldest job of an account is served first, however often it advertises. */
  since: z.number(),
  /** The node that has the source; until `preferUntil` the work waits for it. */
  prefer: z.string().nullable(),
  preferUntil: z.number(),
  /** Nodes that failed or lost the work; until `avoidUntil` they get it only if no other node is connected. */
  avoid: z.array(z.string()),
  avoidUntil: z.number(),
  /** Those of them whose own failure it was. */
  blamed: z.array(z.string()).default([]),
  /** True if it was lost several times: machines that may be taken away at any time get it last. */
  steady: z.boolean().default(false),
});
export type TicketOffer = z.infer<typeof TicketOffer>;

/** An offer as it is sent; the hub fills in the defaults. */
export type SentOffer = z.input<typeof TicketOffer>;

/** What became of a job's offers. */
export type Advertised = {
  /**
   * What no node of the last ten minutes has, such as "a node with libsvtav1 in pool default"; null: some node does.
   */
  readonly waitingFor: string | null;
  /** Of each offer, how many tasks free nodes get at once. */
  readonly taken: readonly number[];
  /** True if the node that has the source is connected, and gets them as soon as it has a free slot. */
  readonly hasSource: boolean;
};

/** A lease, and the node's process that got it. */
export type LeaseHolder = { readonly lease: LeaseId; readonly nodeId: string; readonly session: string };

/** What a hub knows of a lease: its node has it, is connected without it, or is not connected to this hub. */
export type LeaseHolding = "held" | "not-held" | "not-connected";

export interface HubRpc extends DurableObject<unknown>, HubReports {
  /**
   * Accepts a node's socket. The Worker has checked its token and states what it found in the header ADMITTED_HEADER.
   */
  fetch(request: Request): Promise<Response>;
  /** A job advertises its runnable tasks, one offer for each class and requirements; a count of zero withdraws them. */
  advertise(offers: SentOffer[]): Promise<Advertised>;
  /** True if the nodes of leases have them, in the order of the leases. */
  holders(leases: LeaseHolder[]): Promise<LeaseHolding[]>;
  /** A job's leases have ended: their nodes, if connected, are notified to drop them. */
  revoke(leases: LeaseId[]): Promise<void>;
  /**
   * Somebody follows a job until then (ms since 1970): the nodes of these leases report often, and the hub sends their
   * progress on at once. Returns the last progress that the hub knows.
   */
  watch(jobId: string, leases: LeaseId[], until: number): Promise<ProgressItem[]>;
  /** A report on a lease caused an internal error. A node that causes many is disconnected. */
  reportFailed(lease: LeaseId): Promise<void>;
  /** A node token was revoked: its sockets are closed. */
  revokeToken(id: string): Promise<void>;
  /** The number of encodes that the connected nodes can run at the same time, running ones included. */
  capacity(): Promise<number>;
  /** Where a job stands among those that wait for the same nodes; null: nothing of it waits here. */
  place(jobId: string): Promise<Place | null>;
  stats(): Promise<{ nodes: number; tickets: number }>;
}

/** Carries what the Worker has checked of a node: JSON of `Admitted` (dispatch/node-about.ts). */
export const ADMITTED_HEADER = "copra-node-admitted";

export type HubBinding = { HUB: DurableObjectNamespace<HubRpc> };

/** The name of a pool's hub, which has the sockets of all its nodes: about 1500 (docs/operating.md). */
export const hubName = (pool: string): string => `hub:${pool}`;
/** The hub of the pool of nodes and jobs that name none. */
export const FIRST_HUB = hubName(DEFAULT_POOL);

/** The hub of a name. */
export const hubOf = (env: HubBinding, name: string = FIRST_HUB): DurableObjectStub<HubRpc> => env.HUB.getByName(name);
