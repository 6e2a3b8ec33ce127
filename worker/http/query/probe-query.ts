// The query of /v2/probes.
import * as z from "zod";
import { MAX_PROBE_WAIT_S } from "#shared/api/probe-responses.ts";
import { decimal } from "./parse-query.ts";

const RULE = `must be a number of seconds from 0 to ${MAX_PROBE_WAIT_S}`;

export const ProbeParameters = z.object({
  wait: decimal(z.coerce.number(RULE).min(0, RULE).max(MAX_PROBE_WAIT_S, RULE))
    .default(0)
    .describe("Seconds that the response waits for the end of the probe, so that most need no second request"),
});
