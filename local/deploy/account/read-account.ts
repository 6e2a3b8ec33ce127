// The service's resources in a Cloudflare account: its database, its bucket and its Worker.
import * as z from "zod";
import { TAG_PREFIX } from "../builds.ts";
import type { Config, Deployed } from "../configs.ts";
import { isSecretName } from "../secrets.ts";
import { ApiError, type CloudflareApi } from "./cloudflare-api.ts";

export type Account = {
  readonly databaseId: string | null;
  /** `off`: the account has no R2; `unwanted`: wrangler.toml names no bucket. */
  readonly bucket: "found" | "none" | "off" | "unwanted";
  /** `<subdomain>.workers.dev` belongs to the account; null: none is registered. */
  readonly subdomain: string | null;
  readonly worker: Deployed;
  /** Names of the Worker's secrets. */
  readonly secrets: readonly string[];
};

/** An account without any resources of the service. */
export const emptyAccount = (config: Config): Account => ({
  databaseId: databaseOf(config).id,
  bucket: bucketOf(config) === null ? "unwanted" : "none",
  subdomain: null,
  worker: null,
  secrets: [],
});

/** The placeholder id in wrangler.toml, until an operator writes the real id. */
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

/** Reads the resources of an account and changes nothing. `api`: the API of this account. Throws ApiError. */
export async function readAccount(api: CloudflareApi, accountId: string, config: Config): Promise<Account> {
  const inAccount: Ask = (path, schema) => api.request(`/accounts/${accountId}${path}`, schema);
  const [databaseId, bucket, subdomain, version, secrets] = await Promise.all([
    findDatabase(inAccount, config),
    findBucket(inAccount, config),
    subdomainOf(inAccount),
    versionOf(inAccount, config.name),
    secretsOf(inAccount, config.name),
  ]);
  const worker = version && deployedOf(version, secrets, config);
  return { databaseId, bucket, subdomain, worker, secrets };
}

type Ask = <Result>(path: string, schema: z.ZodType<Result>) => Promise<Result>;

/** Cloudflare's error codes. */
const CODES = { noBucket: 10006, noWorker: 10007, noSubdomain: 10007, r2IsOff: 10042 } as const;

/** The result, or the fallback for an error with one of these codes. */
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

const Subdomain = z.object({ subdomain: z.string().nullish() });

async function subdomainOf(ask: Ask): Promise<string | null> {
  const none = { [CODES.noSubdomain]: { subdomain: null } };
  return (await unlessCode(ask("/workers/subdomain", Subdomain), none)).subdomain || null;
}

const Deployments = z.object({
  deployments: z.array(z.object({ versions: z.array(z.object({ version_id: z.string() })) })),
});
const Version = z.object({
  annotations: z.looseObject({ "workers/tag": z.string().optional() }).nullish(),
  resources: z.object({ bindings: z.array(z.object({ type: z.string(), name: z.string() })).nullish() }).optional(),
});
type Version = z.infer<typeof Version>;

/** The newest version of a Worker; null: no Worker has this name. The API lists the newest deployment first. */
async function versionOf(ask: Ask, name: string): Promise<Version | null> {
  const none = { [CODES.noWorker]: { deployments: [] } };
  const { deployments } = await unlessCode(ask(`/workers/scripts/${name}/deployments`, Deployments), none);
  const newest = deployments[0]?.versions[0]?.version_id;
  return newest === undefined ? null : await ask(`/workers/scripts/${name}/versions/${newest}`, Version);
}

/**
 * The deployed version. Wrangler alone sets no tag, but binds the objects. `wrangler secret put` before the first
 * deploy makes a Worker that has only secrets.
 */
function deployedOf({ annotations, resources }: Version, secrets: readonly string[], config: Config): Deployed {
  const tag = annotations?.["workers/tag"] ?? null;
  const bindings = resources?.bindings ?? [];
  const objects = new Set(config.durable_objects.bindings.map(({ name }) => name));
  const hasObjects = bindings.some(({ type, name }) => type === "durable_object_namespace" && objects.has(name));
  if (hasObjects || tag?.startsWith(TAG_PREFIX)) return { tag };
  const isDraft = secrets.some(isSecretName) && bindings.every(({ type }) => type === "secret_text");
  return isDraft ? null : "foreign";
}

const Secrets = z.array(z.object({ name: z.string() }));

/** The names of a Worker's secrets; empty for a missing Worker. */
async function secretsOf(ask: Ask, name: string): Promise<string[]> {
  const found = await unlessCode(ask(`/workers/scripts/${name}/secrets`, Secrets), { [CODES.noWorker]: [] });
  return found.map((secret) => secret.name);
}
