// Deploys the service to Cloudflare: resources, database, Worker, and first account.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../home/constants.ts";
import { sweepLeftovers } from "../home/leftovers.ts";
import { type CloudflareApi, chooseAccount, NotSignedIn, openApi } from "./account/cloudflare-api.ts";
import { pendingMigrations } from "./account/database.ts";
import { type Account, emptyAccount, readAccount } from "./account/read-account.ts";
import { buildWorker, tagOf } from "./builds.ts";
import { type Config, type Resources, readConfig } from "./configs.ts";
import { execute } from "./execute.ts";
import { type DeployOptions, readArguments } from "./options.ts";
import { planDeploy } from "./plan.ts";
import { planLines } from "./plan-lines.ts";
import { NEW_SERVICE, readService, STATE_FILE } from "./state.ts";
import type { Wrangler } from "./wrangler.ts";

/** Deploys the service. With `--dry-run` it only reads, builds, and prints the plan. */
export async function deploy(options: DeployOptions): Promise<void> {
  const parent = join(ROOT, ".wrangler");
  mkdirSync(parent, { recursive: true });
  // A deploy that was killed during an upload left secrets in its folder.
  sweepLeftovers(parent, "deploy-", new Date());
  // Always at the same depth, because the bundle names the source's files relative to this folder.
  const folder = mkdtempSync(join(parent, "deploy-"));
  // Also removed when Ctrl-C ends the process: it contains secrets while a Worker is uploaded.
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  try {
    await deployFrom(folder, options);
  } finally {
    process.off("exit", remove);
    remove();
  }
}

async function deployFrom(folder: string, options: DeployOptions): Promise<void> {
  const { env, print, stateFile = STATE_FILE } = options;
  const given = readArguments(options.args);
  const { isDry, isForced, rotation, outdir, subdomain } = given;
  const config = readConfig(env.WRANGLER_CI_OVERRIDE_NAME);
  const { run, api, account, accountPath } = await openAccount(options, config, isDry);
  const key = `${accountPath}/${config.name}`;
  const service = api === null ? NEW_SERVICE : readService(key, stateFile);
  const resources: Resources = {
    databaseId: account.databaseId,
    hasBucket: account.bucket === "found" || account.bucket === "none",
  };
  if (config.assets) await options.buildAssets();
  const folders = { configs: folder, bundles: outdir ?? join(folder, "bundles") };
  const code = await buildWorker(run, config, resources, folders);
  const plan = planDeploy(config, account, {
    tag: tagOf(code, config, resources),
    isForced,
    rotation,
    subdomain,
    known: new Set([...Object.keys(service.secrets), ...Object.keys(env).filter((name) => env[name])]),
    pending: service.pending,
    isBuild: Boolean(env.WORKERS_CI),
    isUrlKnown: Boolean(service.url ?? config.vars.PUBLIC_URL),
  });
  const database = account.databaseId && `${accountPath}/d1/database/${account.databaseId}`;
  const migrations = await pendingMigrations(api, database);
  for (const line of planLines(config, account, plan, migrations, given)) print(line);
  if (isDry || api === null) return;
  const found = { run, api, accountPath, service, resources, key, stateFile };
  await execute({ ...options, ...found, ...given, config, plan, code, migrations, folder });
}

type Opened = {
  readonly run: Wrangler;
  /** null: nobody is signed in. */
  readonly api: CloudflareApi | null;
  readonly account: Account;
  /** The path of all resources in the API. */
  readonly accountPath: string;
};

/** Reads the account. A dry run without a sign-in assumes an empty account. */
async function openAccount({ run, env, print }: DeployOptions, config: Config, isDry: boolean): Promise<Opened> {
  try {
    const api = await openApi(run, env);
    const id = await chooseAccount(api, env.CLOUDFLARE_ACCOUNT_ID || config.account_id);
    const inAccount: Wrangler = (args, options = {}) =>
      run(args, { ...options, env: { ...options.env, CLOUDFLARE_ACCOUNT_ID: id } });
    return { run: inAccount, api, account: await readAccount(api, id, config), accountPath: `/accounts/${id}` };
  } catch (error) {
    if (!isDry || !(error instanceof NotSignedIn)) throw error;
    print("Nobody is signed in to Cloudflare: this is the plan for an empty account");
    return { run, api: null, account: emptyAccount(config), accountPath: "" };
  }
}
