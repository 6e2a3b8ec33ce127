// The Worker as Miniflare wants it: bindings as wrangler.toml states them, code bundled from its entry.
import { createRequire } from "node:module";
import { join } from "node:path";
import { build, stop as stopEsbuild } from "esbuild";
import type { V4WorkerOptions } from "miniflare";
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from "wrangler";
import * as z from "zod";
import { ROOT } from "../stack/places.ts";

const WRANGLER_TOML = join(ROOT, "wrangler.toml");

/** What the Worker has beyond wrangler.toml: secrets, and variables to replace. */
export type Bindings = Readonly<Record<string, string>>;

const Variables = z.record(z.string(), z.json());

/** Bundles the Worker. Throws esbuild's words when its code does not build. */
export async function workerOptions(bindings: Bindings): Promise<V4WorkerOptions> {
  const { name } = unstable_readConfig({ config: WRANGLER_TOML });
  const { workerOptions: stated, main } = unstable_getMiniflareWorkerOptions(WRANGLER_TOML);
  if (name === undefined || main === undefined) throw new Error(`${WRANGLER_TOML} must state name and main`);
  // The rules say how to find modules that are not bundled, and there are none.
  const { modulesRules: _, ...options } = stated;
  return {
    ...options,
    // Part of the path where its objects' data lie.
    name,
    bindings: { ...Variables.parse(options.bindings), ...bindings },
    modules: true,
    script: await bundle(main),
  };
}

async function bundle(entry: string): Promise<string> {
  const built = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker"],
    external: ["cloudflare:*", "node:*"],
    // Stack traces in the log name the source's functions and lines.
    sourcemap: "inline",
    keepNames: true,
    logLevel: "silent",
  });
  // Its process would stay, waiting for more to build.
  await stopEsbuild();
  const [output] = built.outputFiles;
  if (!output) throw new Error(`${entry} gave no bundle`);
  return output.text;
}

/** Has Miniflare start workerd by way of a script that ends it when this process is gone. Call before Miniflare starts. */
export function tieWorkerdToThisProcess(): void {
  // workerd is a dependency of Miniflare, so it is found from there.
  const fromMiniflare = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  process.env.COPRA_WORKERD = fromMiniflare("workerd").default;
  process.env.MINIFLARE_WORKERD_PATH = join(ROOT, "local", "control-plane", "run-workerd.sh");
}
