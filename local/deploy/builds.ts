// The bundles of the Workers, as wrangler makes them, and the tags by which equal versions are known.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import * as z from "zod";
import { ROOT } from "../home/constants.ts";
import { type Config, hubConfig, mainConfig, oneWorkerConfig, type Resources } from "./configs.ts";
import type { DeployStep, Tags } from "./plan.ts";
import { reasonOf, type Wrangler } from "./wrangler.ts";

const Main = z.object({ main: z.string() });

/** The configuration of a step. */
export function configOf({ ...step }: DeployStep, config: Config, resources: Resources): object {
  switch (step.worker) {
    case "both":
      return oneWorkerConfig(config, resources);
    case "main":
      return mainConfig(config, step.hadHub, resources);
    case "hub":
      return hubConfig(config, step.hasJobs);
  }
}

/** Writes a configuration for wrangler; returns the file's path. */
export function writeConfig(folder: string, name: string, config: object): string {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(config, null, 2));
  return file;
}

/** The code of each Worker; for the main Worker also the pages of the dashboard. */
export type Bundles = { readonly main: string; readonly hub: string };

/** Builds both Workers, which deploys nothing. Throws what is wrong with them. */
export async function buildBundles(
  run: Wrangler,
  config: Config,
  resources: Resources,
  folders: { readonly configs: string; readonly bundles: string },
): Promise<Bundles> {
  const build = async (name: string, built: object): Promise<string> => {
    const file = writeConfig(folders.configs, `${name}-bundle`, built);
    const result = await run(["deploy", "--config", file, "--dry-run", "--outdir", folders.bundles]);
    if (result.code !== 0) throw new Error(`The Worker ${name} does not build: ${reasonOf(result)}`);
    const script = `${basename(Main.parse(built).main, ".ts")}.js`;
    return readFileSync(join(folders.bundles, script), "utf8");
  };
  const [main, hub] = await Promise.all([
    build("main", mainConfig(config, true, resources)),
    build("hub", hubConfig(config, true)),
  ]);
  return { main: main + pagesOf(config.assets?.directory), hub };
}

export const tagsOf = ({ main, hub }: Bundles, config: Config, resources: Resources): Tags => ({
  main: tagOf("main", main, mainConfig(config, true, resources)),
  hub: tagOf("hub", hub, hubConfig(config, true)),
});

/** A text that is the same for the same code and configuration. Paths of this machine do not change it. */
function tagOf(name: string, code: string, config: object): string {
  const text = JSON.stringify(config, (key, value) => (PATHS.has(key) ? null : value));
  return `${name}-${createHash("sha256").update(text).update(code).digest("hex").slice(0, 16)}`;
}

const PATHS: ReadonlySet<string> = new Set(["main", "migrations_dir", "directory"]);

/**
 * The pages of a folder of assets. They name their scripts and styles, which are in assets/ beside those of earlier
 * builds, by hashes of these.
 */
function pagesOf(directory: string | undefined): string {
  const folder = directory && join(ROOT, directory);
  if (!folder || !existsSync(folder)) return "";
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .filter((name) => !name.startsWith("assets/"))
    .sort()
    .map((name) => `${name}\n${readFileSync(join(folder, name), "utf8")}`)
    .join("\n");
}
