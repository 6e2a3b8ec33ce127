// npm run deploy: deploys the service to Cloudflare. What it does not know itself goes to `wrangler deploy`.
import { messageOf } from "#shared/log.ts";
import { askSecret } from "../../cli/terminal/prompt.ts";
import { deploy } from "./run-deploy.ts";
import { wrangler } from "./wrangler.ts";

const stop = new AbortController();
process.once("SIGINT", () => stop.abort(new Error("Interrupted")));

try {
  await deploy({
    run: wrangler,
    args: process.argv.slice(2),
    env: process.env,
    print: (line) => console.log(line),
    ask: async (name) => {
      const value = process.stdin.isTTY ? await askSecret(process.stdin, `${name}: `, stop.signal) : "";
      if (value === "") throw new Error(`The deploy needs ${name}: give it by an environment variable of that name`);
      return value;
    },
  });
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
