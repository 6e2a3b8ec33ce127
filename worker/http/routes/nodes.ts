// What nodes ask for: their socket, and the reports on their leases.

import { type Context, Hono } from "hono";
import { AppError } from "#shared/errors.ts";
import { type LeaseId, parseLeaseId } from "#shared/ids.ts";
import {
  CompleteReport,
  FailReport,
  type LeaseProof,
  OutputsReport,
  ScratchRequest,
  UploadsRequest,
} from "#shared/protocol/protocol.ts";
import { isNodeTokenGood } from "../../db/credentials.ts";
import { TOKEN_HEADER } from "../../dispatch/node-hub.ts";
import { hubOf, jobOf } from "../../env.ts";
import { type Answer, REFUSED } from "../../job/job-answer.ts";
import type { JobObject } from "../../job/job-object.ts";
import { mayBeLease } from "../../lease-token.ts";
import { type NodeEnv, nodeAuth } from "../auth/auth.ts";
import { readBody } from "../body/read-body.ts";
import { answer, isPassing, problem } from "../responses/problem.ts";

export const nodes = new Hono<NodeEnv>({ strict: false })
  .use(nodeAuth)
  .get("/connect", async (context) => {
    if (context.req.header("upgrade")?.toLowerCase() !== "websocket") {
      throw new AppError("report_not_valid", "This address is for WebSocket connections of encoder nodes");
    }
    const hub = hubOf(context.env);
    const token = context.get("tokenId");
    const request = new Request(context.req.raw);
    request.headers.set(TOKEN_HEADER, token);
    const answered = await hub.fetch(request);
    // It may have been revoked after it was checked, and the hub have closed the token's sockets before this one came.
    if (!(await isNodeTokenGood(context.env.DB, token))) await hub.revokeToken(token);
    return answered;
  })
  .post("/leases/:lease/uploads", async (context) => {
    const body = await readBody(context.req, UploadsRequest, "report_not_valid");
    return report(context, body, (job, lease) => job.uploads(lease, body));
  })
  .post("/leases/:lease/scratch", async (context) => {
    const body = await readBody(context.req, ScratchRequest, "report_not_valid");
    return report(context, body, (job, lease) => job.scratch(lease, body));
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
        // A fault of ours that this node can bring about: the hub counts them.
        if (!isPassing(error)) await hubOf(context.env).faulted(lease);
        throw error;
      }
    });
  })
  .post("/leases/:lease/fail", async (context) => {
    const body = await readBody(context.req, FailReport, "report_not_valid");
    return report(context, body, (job, lease) => job.fail(lease, body));
  });

/** Hands a report to the job that the lease names, if there can be such a job. */
async function report<Value>(
  context: Context<NodeEnv, "/leases/:lease/:verb">,
  { token }: Pick<LeaseProof, "token">,
  tell: (job: DurableObjectStub<JobObject>, lease: LeaseId) => Promise<Answer<Value>>,
): Promise<Response> {
  const lease = context.req.param("lease") as LeaseId;
  const named = parseLeaseId(lease);
  if (!named) throw new AppError("report_not_valid", "The path holds no lease id");
  const isKnown = await mayBeLease({ lease, token }, context.env);
  const told = isKnown ? await tell(jobOf(context.env, named.job), lease) : REFUSED.superseded;
  return told.ok ? answer(context, told.value ?? {}) : problem(context, told.code, told.message);
}
