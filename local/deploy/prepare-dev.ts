// npm run wrangler:prepare: prepares `wrangler dev` with secrets in .dev.vars, and the dashboard.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "#shared/log.ts";
import { ensureAssets } from "../assets/assets.ts";
import { ROOT } from "../home/constants.ts";
import { newSecret } from "./secrets.ts";

const FILE = join(ROOT, ".dev.vars");

try {
  if (!existsSync(FILE)) {
    // Sources, storages and webhooks of a local service are on this machine.
    const network = { ALLOW_PRIVATE: "loopback", OUTBOUND: "direct" };
    const variables = { MASTER_SECRET: newSecret(), ADMIN_TOKEN: newSecret(), ...network };
    const lines = Object.entries(variables).map(([name, value]) => `${name}="${value}"`);
    writeFileSync(FILE, `${lines.join("\n")}\n`, { mode: 0o600 });
    console.log(`Made ${FILE} with random secrets`);
  }
  await ensureAssets();
  console.log("Ready for: npx wrangler dev (with Node 20: npm run wrangler -- dev)");
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
