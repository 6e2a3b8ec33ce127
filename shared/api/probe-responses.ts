// Schemas of the responses of /v2/probes.
import * as z from "zod";
import { ContractDate } from "../job/job-view.ts";
import { MediaProbe } from "../media/media-probe.ts";
import { NAMED } from "../named-schemas.ts";

export const PROBE_STATUSES = ["queued", "running", "completed", "failed"] as const;
/** Longest time, in seconds, that a response waits for the end of a probe. */
export const MAX_PROBE_WAIT_S = 30;

export const ProbeView = z
  .strictObject({
    id: z.string().describe("14 letters and digits"),
    status: z
      .enum(PROBE_STATUSES)
      .describe("`queued` while it waits for a node, `running` while a node reads the source"),
    created_at: ContractDate,
    completed_at: ContractDate.nullable().describe("When the probe ended; null until then"),
    source: z.string().describe("Where the source is: its URL without user, password and query"),
    waiting_for: z
      .string()
      .exactOptional()
      .describe("Missing capability that the probe waits for, if no node of the last ten minutes has it"),
    metadata: MediaProbe.exactOptional(),
    error: z.string().exactOptional().describe("Why it failed, in a sentence"),
    error_code: z.string().exactOptional().describe("Why it failed, as an error code"),
  })
  .describe("The contents of a source, as a node found them")
  .register(NAMED, { id: "Probe" });
export type ProbeView = z.infer<typeof ProbeView>;
