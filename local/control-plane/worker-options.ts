// Miniflare's options for the Worker: the bindings of wrangler.toml, and the bundled code.
import { createRequire } from "node:module";
import { join } from "node:path";
import { build, stop as stopEsbuild } from "esbuild";
import type { V4WorkerOptions } from "miniflare";
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from "wrangler";
import * as z from "zod";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { ensureAssets } from "../assets/assets.ts";
import { FRONT_HEADER } from "../front/request-head.ts";
import { ROOT } from "../home/constants.ts";
import { FAILED_HEADER, guardedOutbound } from "./outbound.ts";

const WRANGLER_TOML = join(ROOT, "wrangler.toml");

/** Bindings beside those of wrangler.toml: secrets, and variables that replace others. */
export type Bindings = Readonly<Record<string, string>>;

const Variables = z.record(z.string(), z.json());

/**
 * Bundles the Worker; its requests may reach the addresses that `allow` permits. Throws esbuild's error when the code
 * does not build.
 */
export async function workerOptions(allow: AllowPrivate, bindings: Bindings): Promise<V4WorkerOptions> {
  const { name, vars } = unstable_readConfig({ config: WRANGLER_TOML });
  const { workerOptions: stated, main } = unstable_getMiniflareWorkerOptions(WRANGLER_TOML);
  if (name === undefined || main === undefined) throw new Error(`${WRANGLER_TOML} must state name and main`);
  // Rules for modules that are not bundled; there are none. Miniflare's assets put two more Workers before each
  // request.
  const { modulesRules: _rules, assets: _assets, ...options } = stated;
  const assets = await ensureAssets();
  return {
    ...options,
    // Part of the path of its objects' data.
    name,
    // Not those of .dev.vars, which wrangler adds: what is sealed with its secrets could not be read without the file.
    bindings: { ...Variables.parse(vars), ...allowVariables(allow), ...bindings },
    modules: true,
    script: await bundle(main),
    serviceBindings: { ASSETS: { disk: { path: assets, writable: false } } },
    // A port that leads to the Worker itself, past Miniflare's own routes and headers.
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
    outboundService: guardedOutbound(allow),
  };
}

const allowVariables = (allow: AllowPrivate): Bindings =>
  typeof allow === "string"
    ? { ALLOW_PRIVATE: allow }
    : { ALLOW_PRIVATE: allow.networks, ALLOW_ORIGINS: allow.origins.join(",") };

/**
 * The Worker's entry behind the front server. It responds 404 without the front's secret. Its `fetch` throws when the
 * outbound service reports a failed request, as fetch does without that service.
 */
const localEntry = (main: string): string => `
  import worker from ${JSON.stringify(main)};
  export * from ${JSON.stringify(main)};
  const notFound = () => new Response(null, { status: 404 });
  export default {
    ...worker,
    fetch: (request, env, context) =>
      request.headers.get("${FRONT_HEADER}") === env.FRONT_SECRET ? worker.fetch(request, env, context) : notFound(),
  };
  const connect = globalThis.fetch;
  globalThis.fetch = async (...request) => {
    const response = await connect(...request);
    const failure = response.headers.get("${FAILED_HEADER}");
    if (failure === null) return response;
    throw new TypeError(decodeURIComponent(failure));
  };`;

async function bundle(main: string): Promise<string> {
  const built = await build({
    stdin: { contents: localEntry(main), resolveDir: ROOT, sourcefile: "local-entry.js" },
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
  // Otherwise its process keeps running and waits for more builds.
  await stopEsbuild();
  const [output] = built.outputFiles;
  if (!output) throw new Error(`${main} gave no bundle`);
  return output.text;
}

/** Makes Miniflare start workerd by a script that kills it when this process is gone. Call before Miniflare starts. */
export function tieWorkerdToThisProcess(): void {
  // workerd is a dependency of Miniflare, so it is found from there.
  const fromMiniflare = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  process.env.COPRA_WORKERD = fromMiniflare("workerd").default;
  process.env.MINIFLARE_WORKERD_PATH = join(ROOT, "local", "control-plane", "run-workerd.sh");
}
