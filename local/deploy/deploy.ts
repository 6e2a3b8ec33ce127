// npm run deploy: deploys the service to Cloudflare. Its arguments go to `wrangler deploy`.

import { messageOf } from "#shared/log.ts";
import { deploy } from "./run-deploy.ts";
import { wrangler } from "./wrangler.ts";

/** The exit code of a command that Ctrl-C ended. */
const INTERRUPTED = 130;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(INTERRUPTED));

try {
  await deploy({ run: wrangler, args: process.argv.slice(2), env: process.env, print: (line) => console.log(line) });
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
