// What the Worker serves as files ([assets] in wrangler.toml): the dashboard, the pages of /docs and openapi.json.
import { DIST, ensureDashboard } from "../dashboard/build-dashboard.ts";
import { buildGuides } from "../guides/build-guides.ts";

/** The folder of all files, which are made unless they are of the current sources. */
export async function ensureAssets(folder = DIST): Promise<string> {
  await ensureDashboard(folder);
  await buildGuides(folder);
  return folder;
}

if (process.argv[1] === import.meta.filename) await ensureAssets();
