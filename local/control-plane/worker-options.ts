// Miniflare's options for the Worker: the bindings of wrangler.toml, and the bundled code.
import { createRequire } from "node:module";
import { join } from "node:path";
import type { V4WorkerOptions } from "miniflare";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { ROOT } from "../home/constants.ts";
import { mailBinding } from "./mail.ts";
import { guardedOutbound, type OutboundMode } from "./outbound.ts";
import type { ServiceFiles } from "./service-parts.ts";

/** Bindings in addition to wrangler.toml: secrets, and variables that replace others. */
export type Bindings = Readonly<Record<string, string>>;

/** Miniflare's options for the Worker. Its requests may reach the addresses that `allow` permits. */
export function workerOptions(
  files: ServiceFiles,
  allow: AllowPrivate,
  bindings: Bindings,
  mode: OutboundMode = "direct",
): V4WorkerOptions {
  const { SMTP_URL, SMTP_FROM, ...variables } = bindings;
  return {
    ...files.options,
    rootPath: ROOT,
    // The name is part of the path of the data of its objects.
    name: files.name,
    bindings: { ...files.vars, ...allowVariables(allow), OUTBOUND: mode, ...variables },
    modules: true,
    script: files.script,
    serviceBindings: {
      ASSETS: { disk: { path: files.assets, writable: false } },
      ...mailBinding({ SMTP_URL, SMTP_FROM }),
    },
    // A port that leads to the Worker itself, past Miniflare's own routes and headers.
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
    outboundService: guardedOutbound(allow, mode),
  };
}

const allowVariables = (allow: AllowPrivate): Bindings =>
  typeof allow === "string"
    ? { ALLOW_PRIVATE: allow }
    : { ALLOW_PRIVATE: allow.networks, ALLOW_ORIGINS: allow.origins.join(",") };

/**
 * Makes Miniflare start workerd with a script that kills workerd after this process has ended. Call it before Miniflare
 * starts.
 */
export function tieWorkerdToThisProcess(): void {
  // workerd is a dependency of Miniflare, so Miniflare resolves it.
  const fromMiniflare = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  process.env.COPRA_WORKERD = fromMiniflare("workerd").default;
  process.env.MINIFLARE_WORKERD_PATH = join(ROOT, "local", "control-plane", "run-workerd.sh");
}
