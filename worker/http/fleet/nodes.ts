// The routes of nodes: the WebSocket, and reports on leases.

import { type Context, Hono } from "hono";
import { AppError } from "#shared/errors.ts";
import { type LeaseId, parseLeaseId } from "#shared/ids.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import { CompleteReport, FailReport, OutputsReport } from "#shared/protocol/reports.ts";
import { ChunksRequest, ScratchRequest } from "#shared/protocol/scratch.ts";
import { UploadsRequest } from "#shared/protocol/uploads.ts";
import { err } from "#shared/result.ts";
import { isJobToken } from "../../crypto/lease-token.ts";
import { withDeadline } from "../../rpc/deadline.ts";
import { ADMITTED_HEADER, hubOf } from "../../rpc/hub.ts";
import { type JobResult, type JobStub, jobOf, LEASE_SUPERSEDED } from "../../rpc/job.ts";
import { serviceOrigins } from "../../service-origins.ts";
import { settingsOf } from "../../settings.ts";
import { type NodeEnv, nodeAuth } from "../auth/auth.ts";
import { connectAuth } from "../auth/connect-auth.ts";
import { readBody } from "../body/read-body.ts";
import { errorResponse, isTransientError, jsonResponse } from "../responses/json-response.ts";
import { askHubs } from "./ask-hubs.ts";

export const nodes = new Hono<NodeEnv>({ strict: false })
  .get("/connect", connectAuth, async (context) => {
    if (context.req.header("upgrade")?.toLowerCase() !== "websocket") {
      throw new AppError("report_not_valid", "This URL accepts only WebSocket connections of encoder nodes");
    }
    const admitted = context.get("admitted");
    const hub = hubOf(context.env, admitted.pool);
    const request = new Request(context.req.raw);
    const service = serviceOrigins(settingsOf(context.env), context.env, new URL(context.req.url).origin);
    request.headers.set(ADMITTED_HEADER, JSON.stringify({ ...admitted, service }));
    // The hub knows if the token was revoked after this check.
    return withDeadline("connect", hub.fetch(request));
  })
  .use(nodeAuth)
  .post("/leases/:lease/uploads", async (context) => {
    const body = await readBody(context.req, UploadsRequest, "report_not_valid");
    return report(context, body, (job, lease) => job.uploads(lease, body));
  })
  .post("/leases/:lease/scratch", async (context) => {
    const body = await readBody(context.req, ScratchRequest, "report_not_valid");
    return report(context, body, (job, lease) => job.scratch(lease, body));
  })
  .post("/leases/:lease/chunks", async (context) => {
    const body = await readBody(context.req, ChunksRequest, "report_not_valid");
    return report(context, body, (job, lease) => job.chunks(lease, body));
  })
  .post("/leases/:lease/outputs", async (context) => {
    const body = await readBody(context.req, OutputsReport, "report_not_valid");
    return report(context, body, (job, lease) => job.outputs(lease, body));
  })
  .post("/leases/:lease/complete", async (context) => {
    const body = await readBody(context.req, CompleteReport, "report_not_valid");
    return report(context, body, async (job, lease) => {
      try {
        return await job.complete(lease, body);
      } catch (error) {
        // The node may have caused this internal error: the hub counts such errors.
        if (!isTransientError(error)) await reportFailed(context, lease);
        throw error;
      }
    });
  })
  .post("/leases/:lease/fail", async (context) => {
    const body = await readBody(context.req, FailReport, "report_not_valid");
    return report(context, body, (job, lease) => job.fail(lease, body));
  });

/** Shorter than the timeout of nodes (60 s). Signed uploads may need many requests to the job's storage. */
const REPORT_LIMIT_MS = 50_000;

/** Reports an internal error to all hubs of the node's pool: any of them may have the node. */
async function reportFailed(context: Context<NodeEnv>, lease: LeaseId): Promise<void> {
  await askHubs(context.env, [context.get("placement").pool], (hub) => hub.reportFailed(lease));
}

/** Sends a report to the job of the lease, if such a job may exist. */
async function report<Value>(
  context: Context<NodeEnv, "/leases/:lease/:verb">,
  { token }: Pick<LeaseProof, "token">,
  send: (job: JobStub, lease: LeaseId) => Promise<JobResult<Value>>,
): Promise<Response> {
  const lease = context.req.param("lease") as LeaseId;
  const named = parseLeaseId(lease);
  if (!named) throw new AppError("report_not_valid", "The path does not contain a valid lease id");
  const isKnown = isJobToken({ lease, token }, settingsOf(context.env).sealingKeys);
  const result = isKnown
    ? await withDeadline<JobResult<Value>>("report", send(jobOf(context.env, named.job), lease), REPORT_LIMIT_MS)
    : err(LEASE_SUPERSEDED);
  return result.ok
    ? jsonResponse(context, result.value ?? {})
    : errorResponse(context, result.error.code, result.error.message);
}
