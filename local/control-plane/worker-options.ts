// Miniflare's options for the Worker: the bindings of wrangler.toml, and the bundled code.
import { createRequire } from "node:module";
import { join } from "node:path";
import type { V4WorkerOptions } from "miniflare";
import type * as z from "zod";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { ROOT } from "../home/constants.ts";
import { mailBinding } from "./mail.ts";
import { guardedOutbound, type OutboundMode } from "./outbound.ts";
import type { ServiceFiles } from "./service-parts.ts";

/** Bindings in addition to wrangler.toml: secrets, and variables that replace others. */
export type Bindings = Readonly<Record<string, string>>;

/** The options that an instance of a cluster needs, too (cluster/). */
export type WorkerOptions = Partial<V4WorkerOptions> & {
  readonly name: string;
  readonly script: string;
  readonly bindings: Readonly<Record<string, z.core.util.JSONType>>;
  readonly serviceBindings: {
    readonly ASSETS: { readonly disk: { readonly path: string; readonly writable: boolean } };
  } & ReturnType<typeof mailBinding>;
  readonly outboundService: ReturnType<typeof guardedOutbound>;
};

/** Miniflare's options for the Worker. Its requests may reach the addresses that `allow` permits. */
export function workerOptions(
  files: ServiceFiles,
  allow: AllowPrivate,
  bindings: Bindings,
  mode: OutboundMode = "direct",
): WorkerOptions {
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

/** Starts the workerd of COPRA_WORKERD, and kills it after this process has ended. */
export const WORKERD_SCRIPT = join(ROOT, "local", "control-plane", "run-workerd.sh");

/** The path of workerd. It is a dependency of Miniflare, so Miniflare resolves it. */
export const workerdPath = (): string =>
  createRequire(createRequire(import.meta.url).resolve("miniflare"))("workerd").default;

/** Makes Miniflare start workerd by the script. Call it before Miniflare starts. */
export function tieWorkerdToThisProcess(): void {
  process.env.COPRA_WORKERD = workerdPath();
  process.env.MINIFLARE_WORKERD_PATH = WORKERD_SCRIPT;
}
