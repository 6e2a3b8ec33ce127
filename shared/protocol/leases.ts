// Leases: the right of a node to work on a task for a limited time.
import * as z from "zod";
import { type LeaseId, parseLeaseId } from "../ids.ts";

/**
 * Lifetime of a lease without a report from its node. The hub notices a lost connection sooner; this limit is for
 * losses that the hub does not notice. Each stored renewal costs a row.
 */
export const LEASE_MS = 900_000;
/**
 * Time that a new lease waits for its first report. After it, the job asks the hub whether the node has the lease,
 * because the assign frame may have been lost. Nodes report every 15 s, and the job's alarm rings 30 s after the job
 * saved the claim anyway.
 */
export const OFFER_MS = 30_000;

export const LeaseIdText = z.custom<LeaseId>((value) => typeof value === "string" && parseLeaseId(value) !== null, {
  error: "not a lease id",
});

/** Proves that a report comes from the holder of the lease that it names. */
export const LeaseProof = z.object({ lease: LeaseIdText, token: z.string().min(1).max(100) });
export type LeaseProof = z.infer<typeof LeaseProof>;
