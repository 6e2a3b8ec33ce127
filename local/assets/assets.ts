// What the Worker serves as files ([assets] in wrangler.toml): the dashboard, and the guides of /docs.
import { messageOf } from "#shared/log.ts";
import { DIST, ensureDashboard } from "../dashboard/build-dashboard.ts";
import { buildGuides } from "../guides/build-guides.ts";

/** The folder of all files, which are made unless they are of the current sources. */
export async function ensureAssets(folder = DIST): Promise<string> {
  await ensureDashboard(folder);
  try {
    await buildGuides(folder);
  } catch (error) {
    console.error(`The guides of /docs cannot be built, and stay as they were: ${messageOf(error)}`);
  }
  return folder;
}

if (process.argv[1] === import.meta.filename) await ensureAssets();
