// Facts about a node besides its slots and leases: the facts that its token binds, and the facts that the node
// reported.
import * as z from "zod";
import { DEFAULT_POOL, labelsOf } from "#shared/placement.ts";
import { NodeDisk, type NodeFrameOf, PROTOCOL_VERSION, ServiceOrigin } from "#shared/protocol/frames.ts";
import { NODE_FEATURES } from "#shared/protocol/tasks.ts";
import { type CloseReason, POLICY_VIOLATION } from "../admission/admission.ts";

/** The facts that the Worker checks before it passes a node's socket to the hub. */
export const Admitted = z.object({
  /** The id of the node's token. */
  token: z.string(),
  pool: z.string().default(DEFAULT_POOL),
  /** The labels of the token. */
  labels: z.array(z.string()).default([]),
  /** The name that the node stated; null: none. */
  nodeId: z.string().nullable().default(null),
  /** The start of the token's digest. */
  digest: z.string().default(""),
  /** Addresses at which nodes reach the service itself. */
  service: z.array(ServiceOrigin).default([]),
});
export type Admitted = z.infer<typeof Admitted>;

/** A part of the attachment of a node's socket. */
export const NodeAbout = z.object({
  admitted: Admitted.prefault({ token: "" }),
  /** The version of the protocol that the node speaks. */
  protocol: z.number().default(PROTOCOL_VERSION),
  /** The labels of its token, and its own labels. */
  labels: z.array(z.string()).default([]),
  host: z.string().nullable().default(null),
  version: z.string().nullable().default(null),
  spot: z.boolean().default(false),
  /** State of the disk, from the last frame that contained it. */
  disk: NodeDisk.nullable().default(null),
  /** Reasons why the node cannot work, from the last frame that contained them. */
  notReady: z.array(z.string()).default([]),
  /** Optional features of the node (NODE_FEATURES). Nodes of older releases lack some of them. */
  features: z.array(z.string()).default([]),
  /** The key of its capabilities (known-capabilities.ts). */
  capabilities: z.string().default(""),
  /** Time of its connection, and time of its newest session's signature; ms since 1970. */
  connectedAt: z.number().default(0),
  sessionAt: z.number().default(0),
});
export type NodeAbout = z.infer<typeof NodeAbout>;

/** Returns why a hello contradicts the checked facts, or null. */
export function contradictionOf(admitted: Admitted, { nodeId, pool }: NodeFrameOf<"hello">): CloseReason | null {
  if (admitted.nodeId !== null && admitted.nodeId !== nodeId) {
    return { code: POLICY_VIOLATION, reason: "hello must have the name with which the node connected" };
  }
  if (pool === undefined || pool === admitted.pool) return null;
  return {
    code: POLICY_VIOLATION,
    reason: `this token is of the pool ${admitted.pool}: use a token of the other pool`,
  };
}

/** Describes a node that has just sent hello. */
export function aboutNode(
  admitted: Admitted,
  hello: NodeFrameOf<"hello">,
  capabilities: string,
  now: number,
): NodeAbout {
  const { protocol, host = null, version = null, spot = false, disk = null, labels = [], features = [] } = hello;
  const { notReady = [] } = hello;
  return {
    admitted,
    protocol,
    labels: labelsOf(admitted.labels, labels),
    host,
    version,
    spot,
    disk,
    capabilities,
    notReady,
    features: NODE_FEATURES.filter((feature) => features.includes(feature)),
    connectedAt: now,
    sessionAt: now,
  };
}
