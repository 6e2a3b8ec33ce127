// npm run deploy: deploys the service to Cloudflare. Passes unknown arguments to `wrangler deploy`.

import { createInterface } from "node:readline/promises";
import { messageOf } from "#shared/log.ts";
import { askSecret } from "../../cli/terminal/prompt.ts";
import { ensureAssets } from "../assets/assets.ts";
import { deploy } from "./run-deploy.ts";
import { wrangler } from "./wrangler.ts";

/** The exit code of a command that Ctrl-C ended. */
const INTERRUPTED = 130;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(INTERRUPTED));

const NO_SUBDOMAIN =
  "The account has no workers.dev subdomain yet: choose a name for all its Workers by npm run deploy -- --subdomain <name>";

try {
  await deploy({
    run: wrangler,
    args: process.argv.slice(2),
    env: process.env,
    print: (line) => console.log(line),
    buildAssets: () => ensureAssets(),
    ask: async (name) => {
      const value = process.stdin.isTTY
        ? await askSecret(process.stdin, `${name}: `, new AbortController().signal)
        : "";
      if (value === "") throw new Error(`The deploy needs ${name}: give it by an environment variable of that name`);
      return value;
    },
    askSubdomain: async () => {
      if (!process.stdin.isTTY) throw new Error(NO_SUBDOMAIN);
      const terminal = createInterface({ input: process.stdin, output: process.stderr });
      const name = (await terminal.question("The account's name at workers.dev, for all its Workers: ")).trim();
      terminal.close();
      if (name === "") throw new Error(NO_SUBDOMAIN);
      return name;
    },
  });
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
