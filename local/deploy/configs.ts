// The configurations of the two Workers that are deployed, from wrangler.toml. The hub is a Worker of its own: a new
// version of a Worker closes all sockets of its objects, and the hub changes less often than the rest.
import { join } from "node:path";
import { experimental_readRawConfig as readRawConfig } from "wrangler";
import * as z from "zod";
import { ROOT } from "../home/constants.ts";

/** The class of the hub's objects, and the last migration of the time when the main Worker had them. */
const HUB_CLASS = "NodeHub";
const LAST_SHARED_TAG = "v2";
/** The migration with which the main Worker gives them up; the hub of a new service has never been in it. */
const SPLIT_TAG = "v2-hub";
/** The variables of HubEnv (worker/bindings.ts). */
const HUB_VARIABLES = ["HUBS", "LOG_LEVEL", "RESERVED_SHARE"];

const Migration = z.looseObject({ tag: z.string(), new_sqlite_classes: z.array(z.string()).optional() });
const Binding = z.looseObject({ name: z.string(), class_name: z.string() });
const Config = z.looseObject({
  name: z.string("wrangler.toml must state the name of the Worker"),
  compatibility_date: z.string(),
  compatibility_flags: z.array(z.string()).default([]),
  vars: z.record(z.string(), z.json()).default({}),
  durable_objects: z.looseObject({ bindings: z.array(Binding) }),
  migrations: z.array(Migration),
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
  account_id: z.string().optional(),
  observability: z.json().optional(),
});
export type Config = z.infer<typeof Config>;

/**
 * Reads wrangler.toml; `name` replaces the name of the Worker. Throws an error that names what is missing in it.
 */
export function readConfig(name?: string, path: string = join(ROOT, "wrangler.toml")): Config {
  const parsed = Config.safeParse(readRawConfig({ config: path }).rawConfig);
  if (!parsed.success) throw new Error(`wrangler.toml is not valid: ${z.prettifyError(parsed.error)}`);
  return name ? { ...parsed.data, name } : parsed.data;
}

export const hubNameOf = ({ name }: Config): string => `${name}-hub`;

/** What the account has for the service. */
export type Resources = { readonly databaseId: string | null; readonly hasBucket: boolean };

/** The whole service as one Worker, with the resources of the account. */
export function oneWorkerConfig(config: Config, { databaseId, hasBucket }: Resources): object {
  return {
    ...config,
    main: join(ROOT, "worker", "index.ts"),
    d1_databases: config.d1_databases.map(({ migrations_dir: folder = "migrations", ...database }) => ({
      ...database,
      ...(database.binding === "DB" && databaseId !== null ? { database_id: databaseId } : {}),
      migrations_dir: join(ROOT, folder),
    })),
    r2_buckets: hasBucket ? config.r2_buckets : config.r2_buckets.filter(({ binding }) => binding !== "STORAGE"),
    ...(config.assets && { assets: { ...config.assets, directory: join(ROOT, config.assets.directory) } }),
  };
}

/** The main Worker: everything but the hub. `hadHub`: its deployed version still has the hub's objects. */
export function mainConfig(config: Config, hadHub: boolean, resources: Resources): object {
  const bindings = config.durable_objects.bindings.map((binding) =>
    binding.class_name === HUB_CLASS ? { ...binding, script_name: hubNameOf(config) } : binding,
  );
  return {
    ...oneWorkerConfig(config, resources),
    main: join(ROOT, "worker", "main-worker.ts"),
    durable_objects: { bindings },
    migrations: hadHub ? givingUpHub(config.migrations) : neverWithHub(config.migrations),
  };
}

const givingUpHub = (migrations: Config["migrations"]): object[] =>
  migrations.flatMap((migration) =>
    migration.tag === LAST_SHARED_TAG ? [migration, { tag: SPLIT_TAG, deleted_classes: [HUB_CLASS] }] : [migration],
  );

const neverWithHub = (migrations: Config["migrations"]): object[] =>
  migrations.flatMap(({ new_sqlite_classes: classes, ...migration }) => {
    const own = classes && { new_sqlite_classes: classes.filter((name) => name !== HUB_CLASS) };
    return [{ ...migration, ...own }, ...(migration.tag === LAST_SHARED_TAG ? [{ tag: SPLIT_TAG }] : [])];
  });

/**
 * The hub's Worker. Without `hasJobs` it does not name the main Worker's objects: the two refer to each other, and one
 * must exist first.
 */
export function hubConfig(config: Config, hasJobs: boolean): object {
  const bindingsOf = (className: string) =>
    config.durable_objects.bindings.filter(({ class_name: name }) => name === className);
  const jobs = hasJobs ? bindingsOf("JobObject").map((job) => ({ ...job, script_name: config.name })) : [];
  return {
    name: hubNameOf(config),
    main: join(ROOT, "worker", "hub-worker.ts"),
    compatibility_date: config.compatibility_date,
    compatibility_flags: config.compatibility_flags,
    workers_dev: false,
    preview_urls: false,
    vars: Object.fromEntries(Object.entries(config.vars).filter(([name]) => HUB_VARIABLES.includes(name))),
    durable_objects: { bindings: [...bindingsOf(HUB_CLASS), ...jobs] },
    migrations: [{ tag: "v1", new_sqlite_classes: [HUB_CLASS] }],
    ...(config.observability === undefined ? {} : { observability: config.observability }),
  };
}

/** What is deployed of a Worker; null: nothing, or only its secrets. */
export type Deployed = { readonly tag: string | null; readonly migration: string } | null;
