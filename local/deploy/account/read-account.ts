// What a Cloudflare account has of the service: its database, its bucket and its two Workers.
import * as z from "zod";
import { type Config, type Deployed, hubNameOf } from "../configs.ts";
import type { SecretNames } from "../secrets.ts";
import { ApiError, type CloudflareApi } from "./cloudflare-api.ts";

export type Account = {
  readonly databaseId: string | null;
  /** `off`: the account has no R2; `unwanted`: wrangler.toml names no bucket. */
  readonly bucket: "found" | "none" | "off" | "unwanted";
  readonly main: Deployed;
  readonly hub: Deployed;
  readonly secrets: SecretNames;
};

/** An account in which nothing was made yet. */
export const emptyAccount = (config: Config): Account => ({
  databaseId: databaseOf(config).id,
  bucket: bucketOf(config) === null ? "unwanted" : "none",
  main: null,
  hub: null,
  secrets: { main: [], hub: [] },
});

/** The id that is in wrangler.toml until an operator writes a real one there. */
const NO_ID = /^[0-]*$/;

/** The name of the service's database, and its id if wrangler.toml has it. */
export function databaseOf({ d1_databases: databases }: Config): { readonly name: string; readonly id: string | null } {
  const database = databases.find(({ binding }) => binding === "DB");
  if (!database) throw new Error("wrangler.toml must have a [[d1_databases]] with the binding DB");
  const { database_name: name = "copra", database_id: id = "" } = database;
  return { name, id: NO_ID.test(id) ? null : id };
}

/** The name of the bucket for uploads and the test storage; null: wrangler.toml has none. */
export const bucketOf = ({ r2_buckets: buckets }: Config): string | null =>
  buckets.find(({ binding }) => binding === "STORAGE")?.bucket_name ?? null;

/** Reads what is there; changes nothing. `api` is that of the account. Throws ApiError. */
export async function readAccount(api: CloudflareApi, accountId: string, config: Config): Promise<Account> {
  const inAccount: Ask = (path, schema) => api.request(`/accounts/${accountId}${path}`, schema);
  const names = [config.name, hubNameOf(config)] as const;
  const [databaseId, bucket, main, hub, mainSecrets, hubSecrets] = await Promise.all([
    findDatabase(inAccount, config),
    findBucket(inAccount, config),
    ...([deployedOf(inAccount, names[0]), deployedOf(inAccount, names[1])] as const),
    ...([secretsOf(inAccount, names[0]), secretsOf(inAccount, names[1])] as const),
  ]);
  return { databaseId, bucket, main, hub, secrets: { main: mainSecrets, hub: hubSecrets } };
}

type Ask = <Result>(path: string, schema: z.ZodType<Result>) => Promise<Result>;

/** Cloudflare's codes of errors. */
const CODES = { noBucket: 10006, noWorker: 10007, r2IsOff: 10042 } as const;

/** `fallback` for an error with one of these codes. */
async function unlessCode<Result, Other>(
  promise: Promise<Result>,
  fallbacks: Readonly<Record<number, Other>>,
): Promise<Result | Other> {
  try {
    return await promise;
  } catch (error) {
    const code = error instanceof ApiError && error.code in fallbacks ? error.code : null;
    const fallback = code === null ? undefined : fallbacks[code];
    if (fallback === undefined) throw error;
    return fallback;
  }
}

const Databases = z.array(z.object({ uuid: z.string(), name: z.string() }));

async function findDatabase(ask: Ask, config: Config): Promise<string | null> {
  const { name, id } = databaseOf(config);
  if (id !== null) return id;
  const found = await ask(`/d1/database?per_page=100&name=${encodeURIComponent(name)}`, Databases);
  return found.find((database) => database.name === name)?.uuid ?? null;
}

async function findBucket(ask: Ask, config: Config): Promise<Account["bucket"]> {
  const name = bucketOf(config);
  if (name === null) return "unwanted";
  const found = ask(`/r2/buckets/${name}`, z.unknown()).then(() => "found" as const);
  return await unlessCode(found, { [CODES.noBucket]: "none" as const, [CODES.r2IsOff]: "off" as const });
}

const Deployments = z.object({
  deployments: z.array(z.object({ versions: z.array(z.object({ version_id: z.string() })) })),
});
const Version = z.object({
  annotations: z.looseObject({ "workers/tag": z.string().optional() }).nullish(),
  resources: z.object({ script_runtime: z.object({ migration_tag: z.string().optional() }).optional() }).optional(),
});

/** What is deployed of a Worker; the newest deployment comes first. */
async function deployedOf(ask: Ask, name: string): Promise<Deployed> {
  const none = { [CODES.noWorker]: { deployments: [] } };
  const { deployments } = await unlessCode(ask(`/workers/scripts/${name}/deployments`, Deployments), none);
  const newest = deployments[0]?.versions[0]?.version_id;
  if (newest === undefined) return null;
  const { annotations, resources } = await ask(`/workers/scripts/${name}/versions/${newest}`, Version);
  // A Worker that has only secrets has had no migration.
  const migration = resources?.script_runtime?.migration_tag;
  return migration === undefined ? null : { tag: annotations?.["workers/tag"] ?? null, migration };
}

const Secrets = z.array(z.object({ name: z.string() }));

/** The names of a Worker's secrets; none for one that does not exist. */
async function secretsOf(ask: Ask, name: string): Promise<string[]> {
  const found = await unlessCode(ask(`/workers/scripts/${name}/secrets`, Secrets), { [CODES.noWorker]: [] });
  return found.map((secret) => secret.name);
}
