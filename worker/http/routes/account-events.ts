// GET /v2/events: the events of all jobs of an account.
import { Hono } from "hono";
import type { Result } from "#shared/result.ts";
import { accountOf } from "../../rpc/account.ts";
import { withDeadline } from "../../rpc/deadline.ts";
import { type ClientEnv, clientAuth } from "../auth/auth.ts";
import { eventStream } from "../responses/event-stream.ts";
import { errorResponse } from "../responses/json-response.ts";

export const accountEvents = new Hono<ClientEnv>({ strict: false }).use(clientAuth).get("/", async (context) => {
  const account = accountOf(context.env, context.get("account").id);
  const opened = await withDeadline<Result<ReadableStream<Uint8Array>>>(
    "events",
    account.events(context.req.header("last-event-id") ?? null),
  );
  return opened.ok ? eventStream(opened.value) : errorResponse(context, opened.error.code, opened.error.message);
});
