// The files that the Worker serves ([assets] in wrangler.toml): the dashboard, the pages of /docs and openapi.json.
import { DIST, ensureDashboard } from "../dashboard/build-dashboard.ts";
import { buildGuides } from "../guides/build-guides.ts";

/** The folder of all files. Builds them unless they match the current sources. */
export async function ensureAssets(folder = DIST): Promise<string> {
  await ensureDashboard(folder);
  await buildGuides(folder);
  return folder;
}

if (process.argv[1] === import.meta.filename) await ensureAssets();
