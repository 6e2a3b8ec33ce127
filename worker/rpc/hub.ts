// The calls of the hub.
import type { DurableObject } from "cloudflare:workers";
import * as z from "zod";
import type { LeaseId } from "#shared/ids.ts";
import type { ProgressItem } from "#shared/protocol/frames.ts";
import { NO_REQUIREMENTS, Profile, Requirements } from "#shared/protocol/requirements.ts";
import { SLOT_CLASSES, SlotCounts } from "#shared/protocol/tasks.ts";
import {
  FIRST_HUB,
  groupsOf,
  type HubLayout,
  locationOf,
  namesOf,
  type Position,
  parseHubLayout,
  poolsOf,
  rendezvous,
} from "./hub-layout.ts";
import type { HubReports } from "./hub-reports.ts";

/**
 * Advertises that a job has about `count` runnable tasks of a class that require the same of a node. Times in ms since
 * 1970. Jobs of the previous release leave out the fields that have a default.
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
  /** Whether it was lost several times: machines that may be taken away at any time get it last. */
  steady: z.boolean().default(false),
  /** Before, only another hub may assign it: one of whose nodes has the source. */
  notBefore: z.number().default(0),
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
  /** Of each offer, how many tasks free nodes get at once; a hub of the previous release does not say. */
  readonly taken?: readonly number[];
  /** Whether the node that has the source is connected, and gets them as soon as it has a free slot. */
  readonly hasSource?: boolean;
};

/** Free slots of nodes with a profile. */
export const Capacity = z.object({ profile: Profile, free: SlotCounts });
export type Capacity = z.infer<typeof Capacity>;

/** A ticket that waits at another hub from now on. */
export const LentTicket = TicketOffer.extend({ waitingSince: z.number(), isCountOld: z.boolean() });
export type LentTicket = z.infer<typeof LentTicket>;

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
  /** Whether the nodes of leases have them, in the order of the leases. */
  holders(leases: LeaseHolder[]): Promise<LeaseHolding[]>;
  /** Work of another hub of the pool waits that nodes of this one may take. */
  overflows(hub: string): Promise<void>;
  /** Takes tickets for free slots of another hub, where they wait from now on; none if nothing fits them. */
  lend(hub: string, capacity: Capacity[]): Promise<LentTicket[]>;
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
  stats(): Promise<{ nodes: number; tickets: number }>;
}

/** Carries what the Worker has checked of a node: JSON of `Admitted` (dispatch/node-about.ts). */
export const ADMITTED_HEADER = "copra-node-admitted";
/** What the previous release carries instead: the id of the token. */
export const TOKEN_HEADER = "copra-node-token-id";

export type HubBinding = {
  HUB: DurableObjectNamespace<HubRpc>;
  /** The pools' hubs (hub-layout.ts); one hub for each pool unless set. */
  HUBS?: string;
};

export { FIRST_HUB };

/** The hub of a name, which is created in the region that its name states. */
export function hubOf(env: HubBinding, name: string = FIRST_HUB): DurableObjectStub<HubRpc> {
  const locationHint = locationOf(name);
  return env.HUB.getByName(name, locationHint === null ? {} : { locationHint });
}

/** The names of all hubs of a pool, the nearest first. */
export const hubNames = (env: Pick<HubBinding, "HUBS">, pool: string, near: Position | null = null): string[] =>
  groupsOf(layoutOf(env), pool, near).flatMap(namesOf);

/** The names of the pools that are laid out, and of the default pool. */
export const laidOutPools = (env: Pick<HubBinding, "HUBS">): string[] => poolsOf(layoutOf(env));

/** The names of a pool's hubs in the order in which a job advertises to them. */
export const hubsFor = (env: Pick<HubBinding, "HUBS">, pool: string, jobId: string): string[] =>
  rendezvous(hubNames(env, pool), jobId);

/** The name of a node's hub, in the region of its pool that is nearest. */
export function hubForNode(env: Pick<HubBinding, "HUBS">, pool: string, key: string, near: Position | null): string {
  const [group] = groupsOf(layoutOf(env), pool, near);
  return (group && rendezvous(namesOf(group), key)[0]) ?? FIRST_HUB;
}

let parsed: { text: string; layout: HubLayout } = { text: "", layout: [] };

function layoutOf({ HUBS = "" }: Pick<HubBinding, "HUBS">): HubLayout {
  if (parsed.text !== HUBS) parsed = { text: HUBS, layout: parseHubLayout(HUBS) };
  return parsed.layout;
}
