// The main Worker where the hub is deployed as a Worker of its own (`npm run deploy`).
import type { Env } from "./bindings.ts";
import { app } from "./http/app.ts";
import { sweep } from "./sweep.ts";

export { AccountObject } from "./account/account-object.ts";
export { JobObject } from "./job/job-object.ts";

export default {
  fetch: app.fetch,
  scheduled: (_controller, env) => sweep(env, Date.now()),
} satisfies ExportedHandler<Env>;
