// npm run wrangler:prepare: prepares `wrangler dev` with secrets in .dev.vars, the dashboard, and a local database.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "#shared/log.ts";
import { ensureAssets } from "../assets/assets.ts";
import { ROOT } from "../home/constants.ts";
import { newSecret } from "./secrets.ts";
import { reasonOf, wrangler } from "./wrangler.ts";

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
  // Passes on arguments such as --persist-to, which wrangler dev must get, too.
  const result = await wrangler(["d1", "migrations", "apply", "DB", "--local", ...process.argv.slice(2)]);
  if (result.code !== 0) throw new Error(`The local database could not be migrated: ${reasonOf(result)}`);
  console.log("Ready for: npx wrangler dev (with Node 20: npm run wrangler -- dev)");
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
