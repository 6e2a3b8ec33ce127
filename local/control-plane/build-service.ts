// Bundles the Worker, and reads its bindings as wrangler does.
import { join, relative } from "node:path";
import { build, stop as stopEsbuild } from "esbuild";
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from "wrangler";
import * as z from "zod";
import { messageOf } from "#shared/log.ts";
import { ensureAssets } from "../assets/assets.ts";
import { FRONT_HEADER } from "../front/request-head.ts";
import { ROOT } from "../home/constants.ts";
import { FAILED_HEADER } from "./outbound.ts";
import type { ServiceFiles } from "./service-parts.ts";

const WRANGLER_TOML = join(ROOT, "wrangler.toml");
const Variables = z.record(z.string(), z.json());

/** Builds the Worker. Throws esbuild's error if the sources do not build. */
export async function buildService(): Promise<ServiceFiles> {
  const { name, vars } = unstable_readConfig({ config: WRANGLER_TOML });
  const { workerOptions, main } = unstable_getMiniflareWorkerOptions(WRANGLER_TOML);
  if (name === undefined || main === undefined) throw new Error(`${WRANGLER_TOML} must state name and main`);
  // `modulesRules`: rules for unbundled modules, which do not exist here. `assets`: Miniflare would put two more
  // Workers before each request. `bindings`: they include .dev.vars, and data sealed with its secrets would be
  // unreadable without it. `rootPath`: a folder of this machine, which is useless on another machine.
  const { modulesRules: _rules, assets: _assets, bindings: _bindings, rootPath: _root, ...options } = workerOptions;
  const assets = await ensureAssets();
  const script = await bundle(`./${relative(ROOT, main)}`);
  return { name, vars: Variables.parse(vars), options, script, assets };
}

/**
 * The Worker's entry behind the front server. It responds 404 without the front's secret. Its `fetch` throws when the
 * outbound service reports a failed request, as fetch does without that service.
 */
const localEntry = (main: string): string => `
  import worker from ${JSON.stringify(main)};
  export * from ${JSON.stringify(main)};
  const notFound = () => new Response(null, { status: 404 });
  const bytesOf = (text) => new TextEncoder().encode(text ?? "");
  // In constant time.
  const isFront = (given, secret) =>
    secret.length > 0 && given.length === secret.length && crypto.subtle.timingSafeEqual(given, secret);
  export default {
    ...worker,
    fetch: (request, env, context) =>
      isFront(bytesOf(request.headers.get("${FRONT_HEADER}")), bytesOf(env.FRONT_SECRET))
        ? worker.fetch(request, env, context)
        : notFound(),
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
    loader: { ".sql": "text" },
    // Stack traces in the log then have the source's functions and lines.
    sourcemap: "inline",
    sourcesContent: false,
    keepNames: true,
    logLevel: "silent",
  });
  // Without this, esbuild's process keeps running and waits for more builds.
  await stopEsbuild();
  const [output] = built.outputFiles;
  if (!output) throw new Error(`${main} gave no bundle`);
  return output.text;
}

// Runs as a program for service-files.ts.
if (process.argv[1] === import.meta.filename) {
  const answer = await buildService().then(
    (files) => ({ files }),
    (error: unknown) => ({ error: messageOf(error) }),
  );
  process.send?.(answer, () => process.disconnect());
}
