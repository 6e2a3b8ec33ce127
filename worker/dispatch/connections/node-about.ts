// Facts about a node besides its slots and leases: the facts that its token binds, and the facts that the node
// reported.
import * as z from "zod";
import { labelsOf } from "#shared/placement.ts";
import { NodeDisk, type NodeFrameOf, ServiceOrigin } from "#shared/protocol/frames.ts";
import { type CloseReason, POLICY_VIOLATION } from "../admission/admission.ts";

/** The facts that the Worker checks before it passes a node's socket to the hub. */
export const Admitted = z.object({
  /** The id of the node's token. */
  token: z.string(),
  pool: z.string(),
  /** The labels of the token. */
  labels: z.array(z.string()),
  /** The name that the node stated; null: none. */
  nodeId: z.string().nullable(),
  /** The start of the token's digest. */
  digest: z.string(),
  /** Addresses at which nodes reach the service itself. */
  service: z.array(ServiceOrigin),
});
export type Admitted = z.infer<typeof Admitted>;

/** A part of the attachment of a node's socket. */
export const NodeAbout = z.object({
  admitted: Admitted,
  /** The labels of its token, and its own labels. */
  labels: z.array(z.string()),
  host: z.string().nullable(),
  version: z.string().nullable(),
  spot: z.boolean(),
  /** State of the disk, from the last frame that contained it. */
  disk: NodeDisk.nullable(),
  /** Reasons why the node cannot work, from the last frame that contained them. */
  notReady: z.array(z.string()),
  /** The key of its capabilities (known-capabilities.ts). */
  capabilities: z.string(),
  /** Time of its connection, and time of its newest session's signature; ms since 1970. */
  connectedAt: z.number(),
  sessionAt: z.number(),
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
  const { host = null, version = null, spot = false, disk = null, labels = [] } = hello;
  const { notReady = [] } = hello;
  return {
    admitted,
    labels: labelsOf(admitted.labels, labels),
    host,
    version,
    spot,
    disk,
    capabilities,
    notReady,
    connectedAt: now,
    sessionAt: now,
  };
}
