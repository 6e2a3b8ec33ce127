// Carries out the plan of a deploy.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { messageOf } from "#shared/log.ts";
import type { CloudflareApi } from "./account/cloudflare-api.ts";
import { bookmarkOf } from "./account/database.ts";
import { bucketOf, databaseOf } from "./account/read-account.ts";
import { tagOf, writeConfig } from "./builds.ts";
import { type Config, deployConfig, type Resources } from "./configs.ts";
import { knownMasterSecrets, rotate } from "./master-secret.ts";
import { openService } from "./open-service.ts";
import type { Arguments, DeployOptions } from "./options.ts";
import type { Plan } from "./plan.ts";
import { MASTER_SECRET, newSecret } from "./secrets.ts";
import { type Service, writeService } from "./state.ts";
import { reasonOf } from "./wrangler.ts";

export type Execution = DeployOptions &
  Pick<Arguments, "rotation" | "subdomain" | "location" | "extra"> & {
    readonly api: CloudflareApi;
    readonly accountPath: string;
    readonly config: Config;
    readonly plan: Plan;
    /** The Worker's code (builds.ts). */
    readonly code: string;
    readonly migrations: readonly string[];
    /** A folder for configurations, which is deleted afterwards. */
    readonly folder: string;
    /** The state that earlier deploys stored under `key` in `stateFile`. */
    readonly service: Service;
    readonly key: string;
    readonly stateFile: string;
    readonly resources: Resources;
  };

/** Executes the plan, then shows how to reach the service. Can be repeated after any failure. */
export async function execute(execution: Execution): Promise<void> {
  const { plan, migrations, print } = execution;
  if (plan.registerSubdomain) await registerSubdomain(execution);
  const { secrets, dropped } = await collectSecrets(execution);
  const resources = await createResources(execution);
  let service: Service = {
    ...execution.service,
    ...(resources.databaseId === null ? {} : { databaseId: resources.databaseId }),
    secrets: { ...execution.service.secrets, ...secrets },
    pending: plan.secrets.put,
    dropped: [...new Set([...execution.service.dropped, ...dropped])],
  };
  const save = (): void => writeService(execution.key, service, execution.stateFile);
  // Stored before their use: Cloudflare shows no secret again.
  save();
  if (migrations.length > 0) await migrate(execution, resources);
  if (plan.deploys) {
    const values = Object.fromEntries(service.pending.map((name) => [name, service.secrets[name] ?? ""]));
    const url = await deployWorker(execution, resources, values);
    service = { ...service, pending: [], ...(url === null ? {} : { url }) };
    save();
  }
  service = await openService(execution, service);
  save();
  if (execution.rotation === "add") print(AFTER_ROTATION);
}

const AFTER_ROTATION =
  "Both master secrets are valid. Next: npm run copra -- reseal, and when all keys and tokens have the new pepper, " +
  "npm run deploy -- --drop-old-master-secret (docs/operating.md)";

/**
 * Registers the subdomain first: without it, Cloudflare rejects even the upload of an account's first Worker (10063).
 */
async function registerSubdomain({ api, accountPath, askSubdomain, print, ...execution }: Execution): Promise<void> {
  const subdomain = execution.subdomain ?? (await askSubdomain());
  const path = `${accountPath}/workers/subdomain`;
  await api.request(path, z.unknown(), { subdomain }, "PUT").catch((error: unknown) => {
    throw new Error(`${messageOf(error)}. Choose another name: npm run deploy -- --subdomain <name>`);
  });
  print(`Registered ${subdomain}.workers.dev`);
}

async function createResources({
  plan,
  api,
  accountPath,
  config,
  resources,
  location,
  print,
}: Execution): Promise<Resources> {
  if (plan.createBucket) {
    const bucket = bucketOf(config);
    await api.request(`${accountPath}/r2/buckets`, z.unknown(), { name: bucket });
    print(`Created the bucket ${bucket}`);
  }
  if (!plan.createDatabase) return resources;
  const { name } = databaseOf(config);
  const { uuid } = await api.request(`${accountPath}/d1/database`, z.object({ uuid: z.string() }), {
    name,
    primary_location_hint: location,
  });
  print(`Created the database ${name}`);
  return { ...resources, databaseId: uuid };
}

/** Migrates the database, and prints how to undo the migration. Throws wrangler's message. */
async function migrate(
  { run, api, accountPath, config, folder, print }: Execution,
  resources: Resources,
): Promise<void> {
  const bookmark = await bookmarkOf(api, `${accountPath}/d1/database/${resources.databaseId}`);
  const file = writeConfig(folder, "database", deployConfig(config, resources));
  const result = await run(["d1", "migrations", "apply", "DB", "--remote", "--config", file]);
  if (result.code !== 0) throw new Error(`The database could not be migrated: ${reasonOf(result)}`);
  const { name } = databaseOf(config);
  if (bookmark) print(`Migrated. To undo it: npx wrangler d1 time-travel restore ${name} --bookmark=${bookmark}`);
}

type Collected = { readonly secrets: Readonly<Record<string, string>>; readonly dropped: readonly string[] };

/**
 * The values of the secrets that the Worker gets: from the environment, from an earlier deploy, newly made, or from the
 * operator. Throws a message for people if the master secrets cannot be changed.
 */
async function collectSecrets({ plan, env, service, rotation, ask }: Execution): Promise<Collected> {
  const secrets: Record<string, string> = {};
  const dropped: string[] = [];
  for (const name of plan.secrets.put) {
    const isMaster = name === MASTER_SECRET;
    const known = isMaster ? knownMasterSecrets(env[name], service) : env[name] || service.secrets[name];
    const isNew = plan.secrets.make.includes(name) || !(known || plan.secrets.ask.includes(name));
    const value = known || (isNew ? newSecret() : await ask(name));
    const rotated = rotate(value, isMaster && !isNew ? rotation : null);
    secrets[name] = rotated.value;
    dropped.push(...rotated.dropped);
  }
  return { secrets, dropped };
}

const Output = z.object({ type: z.string(), targets: z.array(z.string()).optional() });

/** Deploys the Worker with these secrets. Returns its URL, if wrangler reports it. */
async function deployWorker(
  { config, folder, run, extra, code: built, print }: Execution,
  resources: Resources,
  secrets: Readonly<Record<string, string>>,
): Promise<string | null> {
  const { name } = config;
  print(`Deploying ${name}`);
  const [output, secretsFile] = [join(folder, "output.jsonl"), join(folder, "secrets.json")];
  rmSync(output, { force: true });
  writeFileSync(secretsFile, JSON.stringify(secrets), { mode: 0o600 });
  const { code, stdout, stderr } = await run(
    [
      "deploy",
      ...["--config", writeConfig(folder, "worker", deployConfig(config, resources))],
      ...["--tag", tagOf(built, config, resources)],
      ...(Object.keys(secrets).length > 0 ? ["--secrets-file", secretsFile] : []),
      ...extra,
    ],
    { show: true, env: { WRANGLER_OUTPUT_FILE_PATH: output } },
  );
  rmSync(secretsFile);
  if (code !== 0) {
    const advice = /\b10063\b/.test(stdout + stderr)
      ? ". The account's first Worker needs a workers.dev subdomain: npm run deploy -- --subdomain <name>"
      : "; npm run deploy goes on where it ended";
    throw new Error(`Deploying ${name} failed${advice}`);
  }
  return existsSync(output) ? urlOf(readFileSync(output, "utf8")) : null;
}

/** The URL of a Worker in wrangler's output, which has a line of JSON for each event. Its routes may have patterns. */
export function urlOf(lines: string): string | null {
  const targets = lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => Output.parse(JSON.parse(line)))
    .flatMap(({ type, targets: found = [] }) => (type === "deploy" ? found : []));
  const hosts = targets.flatMap(
    (target) => /^(?:https:\/\/)?((?:[\w-]+\.)+[a-z]+)(?:$|\/\*|\s)/.exec(target)?.[1] ?? [],
  );
  // Prefers the operator's own host to workers.dev.
  const host = hosts.find((name) => !name.endsWith(".workers.dev")) ?? hosts[0];
  return host === undefined ? null : `https://${host}`;
}
