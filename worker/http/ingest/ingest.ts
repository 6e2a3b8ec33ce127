// /v2/ingest/:template/:token: events of buckets. The token is the credential.
import type { Context } from "hono";
import { AppError } from "#shared/errors.ts";
import { validationCode } from "#shared/template/bucket-events.ts";
import type { Env } from "../../bindings.ts";
import { findToken } from "../../db/ingest-tokens.ts";
import { senderOf } from "../auth/audited.ts";
import { findCredential } from "../auth/failed-attempts.ts";
import { parseJson, readBytes } from "../body/read-body.ts";
import type { JobCreator } from "../jobs/create/new-job.ts";
import { mount } from "../operation/mount.ts";
import { jsonResponse } from "../responses/json-response.ts";
import { isSnsMessage, openSnsMessage } from "../webhooks/sns-messages.ts";
import { INGEST_OPERATIONS } from "./ingest.operations.ts";
import { ingestEvents, tokenDigest } from "./ingest-events.ts";

type Receiving = Context<{ Bindings: Env }, "/:template/:token">;

export const ingest = mount(INGEST_OPERATIONS, {
  ingest: async (context) => {
    const creator = await creatorOfToken(context);
    const body = parseJson(await readBytes(context.req));
    const code = validationCode(body);
    if (code !== null) return jsonResponse(context, { validationResponse: code });
    const message = isSnsMessage(body) ? await openSnsMessage(body) : undefined;
    if (message === null) return jsonResponse(context, { jobs: [], ignored: 0 });
    const events = message === undefined ? body : parseJson(new TextEncoder().encode(message));
    return jsonResponse(context, await ingestEvents(creator, context.req.param("template"), events));
  },
})
  // Event Grid's handshake for CloudEvents (CloudEvents, HTTP 1.1 Web Hooks, 4).
  .on("OPTIONS", "/v2/ingest/:template/:token", async (context) => {
    await creatorOfToken(context);
    context.header("webhook-allowed-origin", context.req.header("webhook-request-origin") ?? "");
    context.header("webhook-allowed-rate", "*");
    return context.body(null, 200);
  });

/** Throws AppError(authentication_failed | rate_limited). */
async function creatorOfToken(context: Receiving): Promise<JobCreator> {
  const { env, req } = context;
  const digest = await tokenDigest(req.param("token"));
  if (!(await env.CLIENT_RATE.limit({ key: digest })).success) {
    throw new AppError("rate_limited", "Too many requests with this token; try again later");
  }
  const token = await findCredential(context, digest, () => findToken(env.DB, digest));
  if (token?.template === req.param("template"))
    return { env, account: token.account, origin: new URL(req.url).origin, sender: senderOf(context, token.keyId) };
  throw new AppError("authentication_failed", "The token is unknown or was revoked, or belongs to another template");
}
