// The service: requests, the cron job, and the objects.
import type { Env } from "./bindings.ts";
import { app } from "./http/app.ts";
import { missingSteps } from "./http/fleet/setup.ts";
import { log } from "./log.ts";
import { ingestBatch } from "./queue.ts";
import { sweep } from "./sweep.ts";

export { AccountObject } from "./account/account-object.ts";
export { NodeHub } from "./dispatch/node-hub.ts";
export { JobObject } from "./job/job-object.ts";

export default {
  fetch: app.fetch,
  async scheduled(_controller, env) {
    const steps = await missingSteps(env);
    if (steps.length === 0) await sweep(env, Date.now());
    else log.warn("sweep skipped", { missing: steps.map(({ problem }) => problem).join("; ") });
  },
  queue: ingestBatch,
} satisfies ExportedHandler<Env>;
