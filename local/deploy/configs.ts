// The configuration of the Worker: wrangler.toml, completed with the resources of the account.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { experimental_readRawConfig as readRawConfig } from "wrangler";
import * as z from "zod";
import { byName, checkReachableUrl } from "#shared/network/address-policy.ts";
import { ROOT } from "../home/constants.ts";

const Binding = z.looseObject({ name: z.string(), class_name: z.string() });
const Config = z.looseObject({
  name: z.string("wrangler.toml must state the name of the Worker"),
  compatibility_date: z.string(),
  compatibility_flags: z.array(z.string()).default([]),
  vars: z.record(z.string(), z.json()).default({}),
  durable_objects: z.looseObject({ bindings: z.array(Binding) }),
  d1_databases: z
    .array(
      z.looseObject({
        binding: z.string(),
        database_name: z.string().optional(),
        database_id: z.string().optional(),
        migrations_dir: z.string().optional(),
      }),
    )
    .default([]),
  r2_buckets: z.array(z.looseObject({ binding: z.string(), bucket_name: z.string().optional() })).default([]),
  assets: z.looseObject({ directory: z.string() }).optional(),
  ratelimits: z.array(z.looseObject({ name: z.string(), namespace_id: z.string() })).default([]),
  workers_dev: z.boolean().optional(),
  route: z.json().optional(),
  routes: z.array(z.json()).optional(),
  account_id: z.string().optional(),
  observability: z.json().optional(),
});
export type Config = z.infer<typeof Config>;

/** Reads wrangler.toml; `name` replaces the name of the Worker. Throws an error that lists missing fields. */
export function readConfig(name?: string, path: string = join(ROOT, "wrangler.toml")): Config {
  const parsed = Config.safeParse(readRawConfig({ config: path }).rawConfig);
  if (!parsed.success) throw new Error(`wrangler.toml is not valid: ${z.prettifyError(parsed.error)}`);
  checkNetworks(parsed.data.vars);
  return name ? { ...parsed.data, name } : parsed.data;
}

/** Throws if the Worker would accept URLs that no Worker on Cloudflare can reach. */
function checkNetworks({ ALLOW_PRIVATE = "none", ALLOW_ORIGINS = "" }: Config["vars"]): void {
  const advice =
    "Give the host a public name, such as by a Cloudflare Tunnel, or run the service yourself (docs/self-hosting.md)";
  if (ALLOW_PRIVATE !== "none") {
    throw new Error(
      `wrangler.toml: ALLOW_PRIVATE must be "none", because a Worker on Cloudflare reaches no private network. ${advice}`,
    );
  }
  for (const origin of String(ALLOW_ORIGINS).split(",").filter(Boolean)) {
    const checked = checkReachableUrl(origin, byName("none"));
    if (!checked.ok) throw new Error(`wrangler.toml: ALLOW_ORIGINS: \`${origin}\` ${checked.error}. ${advice}`);
  }
}

/** The service's resources in the account. */
export type Resources = { readonly databaseId: string | null; readonly hasBucket: boolean };

/** The Worker's configuration with the resources of the account. */
export function deployConfig(config: Config, { databaseId, hasBucket }: Resources): object {
  return {
    ...config,
    // The assets have already been built.
    build: undefined,
    workers_dev: usesWorkersDev(config),
    main: join(ROOT, "worker", "index.ts"),
    d1_databases: config.d1_databases.map(({ migrations_dir: folder = "migrations", ...database }) => ({
      ...database,
      ...(database.binding === "DB" && databaseId !== null ? { database_id: databaseId } : {}),
      migrations_dir: join(ROOT, folder),
    })),
    r2_buckets: hasBucket ? config.r2_buckets : config.r2_buckets.filter(({ binding }) => binding !== "STORAGE"),
    // Namespace ids count for the whole account, so another Copra in it needs other ids.
    ratelimits: config.ratelimits.map((limit) => ({
      ...limit,
      namespace_id: String(createHash("sha256").update(`${config.name} ${limit.name}`).digest().readUInt32BE() >>> 1),
    })),
    ...(config.assets && { assets: { ...config.assets, directory: join(ROOT, config.assets.directory) } }),
  };
}

/** True if the Worker answers at workers.dev: wrangler.toml gives it no other host, as with wrangler alone. */
export const usesWorkersDev = ({ workers_dev: isStated, route, routes = [] }: Config): boolean =>
  isStated ?? (route === undefined && routes.length === 0);

/** The deployed version. null: none, or only secrets; "foreign": another program has the service's name. */
export type Deployed = { readonly tag: string | null } | "foreign" | null;
