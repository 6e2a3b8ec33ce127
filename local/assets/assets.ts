// The files that the Worker serves ([assets] in wrangler.toml): the dashboard, the pages of /docs and openapi.json.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DIST, ensureDashboard } from "../dashboard/build-dashboard.ts";
import { ROOT } from "../home/constants.ts";

/** The folder of all files. Builds them unless they match the current sources. Without sources, existing files stay. */
export async function ensureAssets(folder = DIST): Promise<string> {
  await ensureDashboard(folder);
  if (existsSync(join(ROOT, "docs", "self-hosting.md"))) {
    // Loaded at run time: the module needs sources of the dashboard, which images and packages lack.
    const { buildGuides } = await import("../guides/build-guides.ts");
    await buildGuides(folder);
  }
  return folder;
}

if (process.argv[1] === import.meta.filename) await ensureAssets();
