// The bundle of the Worker, as wrangler makes it, and the tag that identifies equal versions.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import * as z from "zod";
import { ROOT } from "../home/constants.ts";
import { type Config, deployConfig, type Resources } from "./configs.ts";
import { reasonOf, type Wrangler } from "./wrangler.ts";

/** All tags of the service's versions start with this prefix. */
export const TAG_PREFIX = "copra-";

const Main = z.object({ main: z.string() });

/** Writes a configuration for wrangler; returns the file's path. */
export function writeConfig(folder: string, name: string, config: object): string {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(config, null, 2));
  return file;
}

/**
 * Builds the Worker without a deploy. Returns its code and the pages of the dashboard. Throws the errors of the build.
 */
export async function buildWorker(
  run: Wrangler,
  config: Config,
  resources: Resources,
  folders: { readonly configs: string; readonly bundles: string },
): Promise<string> {
  const built = deployConfig(config, resources);
  const file = writeConfig(folders.configs, "bundle", built);
  const result = await run(["deploy", "--config", file, "--dry-run", "--outdir", folders.bundles]);
  if (result.code !== 0) throw new Error(`The Worker does not build: ${reasonOf(result)}`);
  const script = `${basename(Main.parse(built).main, ".ts")}.js`;
  return readFileSync(join(folders.bundles, script), "utf8") + pagesOf(config.assets?.directory);
}

/** A text that is equal for equal code and configuration. Paths of this machine do not change it. */
export function tagOf(code: string, config: Config, resources: Resources): string {
  const text = JSON.stringify(deployConfig(config, resources), (key, value) => (PATHS.has(key) ? null : value));
  return `${TAG_PREFIX}${createHash("sha256").update(text).update(code).digest("hex").slice(0, 16)}`;
}

const PATHS: ReadonlySet<string> = new Set(["main", "migrations_dir", "directory"]);

/**
 * The pages of a folder of assets. assets/ also has files of earlier builds, so it is left out: the pages name their
 * scripts and styles by hashes.
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
