// Leases: the right of one node to work on one task for a limited time.
import * as z from "zod";
import { type LeaseId, parseLeaseId } from "../ids.ts";

/**
 * How long a lease lives without a report from its node. A lost connection is noticed sooner, by the hub: this is for
 * what the hub does not notice, and each renewal that is stored costs a row.
 */
export const LEASE_MS = 600_000;
/**
 * How long a new lease waits for the first report before its job asks the hub whether the node has it: the assign frame
 * may have been lost. Nodes report every 15 s, and the alarm of the job rings anyway 30 s after it saved the claim.
 */
export const OFFER_MS = 30_000;

export const LeaseIdText = z.custom<LeaseId>((value) => typeof value === "string" && parseLeaseId(value) !== null, {
  error: "not a lease id",
});

/** Proves that a report comes from the holder of the lease that it names. */
export const LeaseProof = z.object({ lease: LeaseIdText, token: z.string().min(1).max(100) });
export type LeaseProof = z.infer<typeof LeaseProof>;
