// npm run deploy:verify: checks a deployed service at Cloudflare, and prints expected and actual results in one table.
import { parseArgs } from "node:util";
import { messageOf } from "#shared/log.ts";
import { table } from "../../../cli/terminal/table.ts";
import { readServices } from "../state.ts";
import { verify } from "./checks.ts";

try {
  const { values } = parseArgs({ options: { minutes: { type: "string", default: "1" } } });
  const { env } = process;
  const services = readServices().filter((known) => known.url && (!env.COPRA_URL || known.url === env.COPRA_URL));
  const service = services.length === 1 ? services[0] : undefined;
  const [url, key] = [env.COPRA_URL || service?.url, env.COPRA_API_KEY || service?.access.apiKey];
  if (!url || !key) throw new Error("Set COPRA_URL and COPRA_API_KEY: .wrangler/copra.json does not name one service");
  const nodeToken = env.COPRA_NODE_TOKEN || service?.access.nodeToken;
  const holdMs = Number(values.minutes) * 60_000;
  const { CLOUDFLARE_ACCOUNT_ID: id, CLOUDFLARE_API_TOKEN: token } = env;
  const account = id && token ? { id, token } : undefined;
  const rows = await verify({ url, key, nodeToken, holdMs, expired: "https://expired.badssl.com", account });
  const cells = rows.map(({ mark, name, expected, seen }) => [mark, name, expected, seen]);
  console.log(table([["", url, "expected", "seen"], ...cells]));
  if (rows.some(({ mark }) => mark === "failed")) process.exitCode = 1;
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
