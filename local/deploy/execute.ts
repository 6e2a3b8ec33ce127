// Carries out the plan of a deploy.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import type { CloudflareApi } from "./account/cloudflare-api.ts";
import { bookmarkOf } from "./account/database.ts";
import { bucketOf, databaseOf } from "./account/read-account.ts";
import { type Bundles, configOf, tagsOf, writeConfig } from "./builds.ts";
import { type Config, hubNameOf, type Resources } from "./configs.ts";
import { knownMasterSecrets, type Rotation, rotate } from "./master-secret.ts";
import { openService } from "./open-service.ts";
import type { DeployOptions } from "./options.ts";
import type { DeployStep, Plan } from "./plan.ts";
import { MASTER_SECRET, newSecret } from "./secrets.ts";
import { type Service, writeService } from "./state.ts";
import { reasonOf } from "./wrangler.ts";

export type Execution = DeployOptions & {
  readonly api: CloudflareApi;
  readonly accountPath: string;
  readonly config: Config;
  readonly plan: Plan;
  readonly rotation: Rotation;
  readonly bundles: Bundles;
  readonly migrations: readonly string[];
  /** For configurations; it is deleted afterwards. */
  readonly folder: string;
  readonly extra: readonly string[];
  /** What earlier deploys stored, under `key` in `stateFile`. */
  readonly service: Service;
  readonly key: string;
  readonly stateFile: string;
  readonly resources: Resources;
};

/** Does what is planned, then shows how to reach the service. Can be repeated after any failure. */
export async function execute(execution: Execution): Promise<void> {
  const { plan, migrations, print } = execution;
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
  // Before they are in use: Cloudflare shows no secret again.
  save();
  if (migrations.length > 0) await migrate(execution, resources);
  for (const step of plan.steps) {
    const worker = step.worker === "hub" ? "hub" : "main";
    const values = Object.fromEntries(service.pending[worker].map((name) => [name, service.secrets[name] ?? ""]));
    const url = await deployWorker(execution, resources, step, values);
    service = { ...service, pending: { ...service.pending, [worker]: [] } };
    if (url !== null && step.worker !== "hub") service = { ...service, url };
    save();
  }
  service = await openService(execution, service);
  save();
  if (execution.rotation === "add") print(AFTER_ROTATION);
}

const AFTER_ROTATION =
  "Both master secrets are valid. Next: npm run copra -- reseal, and when all keys and tokens have the new pepper, " +
  "npm run deploy -- --drop-old-master-secret (docs/operating.md)";

async function createResources({ plan, api, accountPath, config, resources, print }: Execution): Promise<Resources> {
  if (plan.createBucket) {
    const bucket = bucketOf(config);
    await api.request(`${accountPath}/r2/buckets`, z.unknown(), { name: bucket });
    print(`Created the bucket ${bucket}`);
  }
  if (!plan.createDatabase) return resources;
  const { name } = databaseOf(config);
  const { uuid } = await api.request(`${accountPath}/d1/database`, z.object({ uuid: z.string() }), { name });
  print(`Created the database ${name}`);
  return { ...resources, databaseId: uuid };
}

/** Migrates the database; prints how to undo that. Throws wrangler's message. */
async function migrate(
  { run, api, accountPath, config, folder, print }: Execution,
  resources: Resources,
): Promise<void> {
  const bookmark = await bookmarkOf(api, `${accountPath}/d1/database/${resources.databaseId}`);
  const file = writeConfig(folder, "database", configOf({ worker: "both" }, config, resources));
  const result = await run(["d1", "migrations", "apply", "DB", "--remote", "--config", file]);
  if (result.code !== 0) throw new Error(`The database could not be migrated: ${reasonOf(result)}`);
  const { name } = databaseOf(config);
  if (bookmark) print(`Migrated. To undo it: npx wrangler d1 time-travel restore ${name} --bookmark=${bookmark}`);
}

type Collected = { readonly secrets: Readonly<Record<string, string>>; readonly dropped: readonly string[] };

/**
 * The values of the secrets that Workers get: of the environment, of an earlier deploy, new ones, or the operator's.
 * Throws a message for people when the master secrets cannot be changed.
 */
async function collectSecrets({ plan, env, service, rotation, ask }: Execution): Promise<Collected> {
  const secrets: Record<string, string> = {};
  const dropped: string[] = [];
  for (const name of new Set([...plan.secrets.put.main, ...plan.secrets.put.hub])) {
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

/** Deploys a Worker with these secrets; returns its URL, if wrangler reports one. */
async function deployWorker(
  { config, folder, run, extra, bundles, print }: Execution,
  resources: Resources,
  step: DeployStep,
  secrets: Readonly<Record<string, string>>,
): Promise<string | null> {
  const isHub = step.worker === "hub";
  const name = isHub ? hubNameOf(config) : config.name;
  print(`Deploying ${name}`);
  const [output, secretsFile] = [join(folder, "output.jsonl"), join(folder, "secrets.json")];
  rmSync(output, { force: true });
  writeFileSync(secretsFile, JSON.stringify(secrets), { mode: 0o600 });
  const isLast = step.worker !== "hub" || step.hasJobs;
  const { code } = await run(
    [
      "deploy",
      ...["--config", writeConfig(folder, step.worker, configOf(step, config, resources))],
      ...(isLast && step.worker !== "both" ? ["--tag", tagsOf(bundles, config, resources)[step.worker]] : []),
      ...(Object.keys(secrets).length > 0 ? ["--secrets-file", secretsFile] : []),
      ...extra,
    ],
    { show: true, env: { WRANGLER_OUTPUT_FILE_PATH: output } },
  );
  rmSync(secretsFile);
  if (code !== 0) throw new Error(`Deploying ${name} failed; npm run deploy goes on where it ended`);
  return existsSync(output) ? urlOf(readFileSync(output, "utf8")) : null;
}

/** The URL of a Worker in wrangler's output, a line of JSON for each event; its routes may have patterns. */
export function urlOf(lines: string): string | null {
  const targets = lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => Output.parse(JSON.parse(line)))
    .flatMap(({ type, targets: found = [] }) => (type === "deploy" ? found : []));
  const hosts = targets.flatMap(
    (target) => /^(?:https:\/\/)?((?:[\w-]+\.)+[a-z]+)(?:$|\/\*|\s)/.exec(target)?.[1] ?? [],
  );
  // A host of one's own is better than that of workers.dev.
  const host = hosts.find((name) => !name.endsWith(".workers.dev")) ?? hosts[0];
  return host === undefined ? null : `https://${host}`;
}
