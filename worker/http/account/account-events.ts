// GET /v2/events: the events of all jobs of an account.
import { Hono } from "hono";
import { follow } from "../../events/socket-stream.ts";
import { accountOf } from "../../rpc/account.ts";
import { type ClientEnv, clientAuth } from "../auth/auth.ts";
import { eventStream } from "../responses/event-stream.ts";

export const accountEvents = new Hono<ClientEnv>({ strict: false })
  .use(clientAuth)
  .get("/", async (context) =>
    eventStream(await follow(accountOf(context.env, context.get("account").id), context.req.raw)),
  );
