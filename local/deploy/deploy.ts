// npm run deploy: deploys the main Worker, and the hub's if it has changed. Arguments go to `wrangler deploy`.
import { messageOf } from "#shared/log.ts";
import { deploy } from "./run-deploy.ts";
import { wrangler } from "./wrangler.ts";

try {
  await deploy(wrangler, process.argv.slice(2), (line) => console.log(line));
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
