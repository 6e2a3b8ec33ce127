// The service: requests, the cron job, and the objects.
import type { Env } from "./bindings.ts";
import { app } from "./http/app.ts";
import { sweep } from "./sweep.ts";

export { AccountObject } from "./account/account-object.ts";
export { NodeHub } from "./dispatch/node-hub.ts";
export { JobObject } from "./job/job-object.ts";

export default {
  fetch: app.fetch,
  scheduled: (_controller, env) => sweep(env, Date.now()),
} satisfies ExportedHandler<Env>;
