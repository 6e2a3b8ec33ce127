// Entry of the Worker.

import type { Env } from "./env.ts";
import { app } from "./http/app.ts";

export { NodeHub } from "./dispatch/node-hub.ts";
export { JobObject } from "./job/job-object.ts";

export default { fetch: app.fetch } satisfies ExportedHandler<Env>;
