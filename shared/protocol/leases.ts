// Leases: the right of one node to work on one task for a limited time.
import * as z from "zod";
import { type LeaseId, parseLeaseId } from "../ids.ts";

/**
 * How long a lease lives without a report from its node. A lost connection is noticed sooner, by the hub: this is for
 * what the hub does not notice, and each renewal that is stored costs a row.
 */
export const LEASE_MS = 600_000;
/** How long a new lease waits for the first report: the assign frame may have been lost. */
export const OFFER_MS = 60_000;

export const LeaseIdText = z.custom<LeaseId>((value) => typeof value === "string" && parseLeaseId(value) !== null, {
  error: "not a lease id",
});

/** Proves that a report comes from the holder of the lease that it names. */
export const LeaseProof = z.object({ lease: LeaseIdText, token: z.string().min(1).max(100) });
export type LeaseProof = z.infer<typeof LeaseProof>;
