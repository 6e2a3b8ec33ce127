// The routes of nodes: the WebSocket, and reports on leases.

import { type Context, Hono } from "hono";
import type * as z from "zod";
import { AppError } from "#shared/errors.ts";
import { type LeaseId, parseLeaseId } from "#shared/ids.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import { CompleteReport, FailReport, OutputsReport } from "#shared/protocol/reports.ts";
import { ChunksRequest, ScratchRequest } from "#shared/protocol/scratch.ts";
import { UploadsRequest } from "#shared/protocol/uploads.ts";
import { err } from "#shared/result.ts";
import { isJobToken } from "../../crypto/lease-token.ts";
import { withDeadline } from "../../deadline.ts";
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
  .post(
    "/leases/:lease/uploads",
    onLease(UploadsRequest, (job, lease, body) => job.uploads(lease, body)),
  )
  .post(
    "/leases/:lease/scratch",
    onLease(ScratchRequest, (job, lease, body) => job.scratch(lease, body)),
  )
  .post(
    "/leases/:lease/chunks",
    onLease(ChunksRequest, (job, lease, body) => job.chunks(lease, body)),
  )
  .post(
    "/leases/:lease/outputs",
    onLease(OutputsReport, (job, lease, body) => job.outputs(lease, body)),
  )
  .post("/leases/:lease/complete", async (context) => {
    try {
      return await complete(context);
    } catch (error) {
      // The node may have caused this internal error: the hub counts such errors.
      if (!isTransientError(error)) await reportFailed(context);
      throw error;
    }
  })
  .post(
    "/leases/:lease/fail",
    onLease(FailReport, (job, lease, body) => job.fail(lease, body)),
  );

type LeaseContext = Context<NodeEnv, "/leases/:lease/:verb">;

/** Shorter than the timeout of nodes (60 s). Signed uploads may need many requests to the job's storage. */
const REPORT_LIMIT_MS = 50_000;

const complete = onLease(CompleteReport, (job, lease, body) => job.complete(lease, body));

/** Reports an internal error to the hub of the node's pool. */
async function reportFailed(context: LeaseContext): Promise<void> {
  const lease = context.req.param("lease") as LeaseId;
  await askHubs(context.env, [context.get("placement").pool], (hub) => hub.reportFailed(lease));
}

/** Sends the body of a request to the job of its lease, if such a job may exist. */
function onLease<Body extends Pick<LeaseProof, "token">, Value>(
  schema: z.ZodType<Body>,
  send: (job: JobStub, lease: LeaseId, body: Body) => Promise<JobResult<Value>>,
) {
  return async (context: LeaseContext): Promise<Response> => {
    const body = await readBody(context.req, schema, "report_not_valid");
    const lease = context.req.param("lease") as LeaseId;
    const named = parseLeaseId(lease);
    if (!named) throw new AppError("report_not_valid", "The path does not contain a valid lease id");
    const isKnown = isJobToken({ lease, token: body.token }, settingsOf(context.env).sealingKeys);
    const result = isKnown
      ? await withDeadline<JobResult<Value>>(
          "report",
          send(jobOf(context.env, named.job), lease, body),
          REPORT_LIMIT_MS,
        )
      : err(LEASE_SUPERSEDED);
    return result.ok
      ? jsonResponse(context, result.value ?? {})
      : errorResponse(context, result.error.code, result.error.message);
  };
}
