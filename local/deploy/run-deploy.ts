// Deploys the service to Cloudflare: `wrangler deploy`, with what wrangler does not do. It makes the secrets once,
// migrates the database before an update, and creates the first account.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { experimental_readRawConfig as readRawConfig } from "wrangler";
import * as z from "zod";
import { byName, checkReachableUrl } from "#shared/network/address-policy.ts";
import { ROOT } from "../home/constants.ts";
import { sweepLeftovers } from "../home/leftovers.ts";
import { type Opening, openService } from "./open-service.ts";
import { missingSecrets } from "./secrets.ts";
import { readService, STATE_FILE, writeService } from "./state.ts";
import { reasonOf, type wrangler } from "./wrangler.ts";

export type DeployOptions = Opening & {
  readonly run: typeof wrangler;
  /** Arguments for `wrangler deploy`. */
  readonly args: readonly string[];
};

const Config = z.looseObject({ name: z.string(), vars: z.record(z.string(), z.json()).default({}) });

/** Deploys the service, or builds it with `--dry-run`. Throws a message for people. Can be repeated after a failure. */
export async function deploy(options: DeployOptions): Promise<void> {
  const { run, args, env, print, stateFile = STATE_FILE } = options;
  const { name: ownName, vars } = Config.parse(readRawConfig({ config: join(ROOT, "wrangler.toml") }).rawConfig);
  const name = env.WRANGLER_CI_OVERRIDE_NAME || ownName;
  checkNetworks(vars);
  if (args.includes("--dry-run")) {
    await deployWorker(options, {});
    return;
  }
  let service = readService(name, stateFile);
  const has = await secretsOf(options, name);
  // Cloudflare's builds make no secrets: the form of the deploy button asks for them, and nobody could read them here.
  const secrets = env.WORKERS_CI ? {} : missingSecrets(vars, has ?? [], { ...service.secrets, ...nonEmpty(env) });
  service = { ...service, secrets: { ...service.secrets, ...secrets } };
  // Stored before their use: Cloudflare shows no secret again.
  writeService(name, service, stateFile);
  if (has !== null) {
    const result = await run(["d1", "migrations", "apply", "DB", "--remote"], { env: { ...env, CI: "1" } });
    if (result.code !== 0) throw new Error(`The database could not be migrated: ${reasonOf(result)}`);
  }
  const url = await deployWorker(options, secrets);
  const host = typeof vars.PUBLIC_URL === "string" ? vars.PUBLIC_URL : (url ?? service.url);
  if (host === undefined)
    return print("Cloudflare names no host of the service: set workers_dev or a route in wrangler.toml");
  writeService(name, await openService(options, { ...service, url: host }), stateFile);
}

const nonEmpty = (env: DeployOptions["env"]): DeployOptions["env"] =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value));

/** Throws if the Worker would accept URLs that no Worker on Cloudflare can reach. */
function checkNetworks({ ALLOW_PRIVATE = "none", ALLOW_ORIGINS = "" }: Readonly<Record<string, unknown>>): void {
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

const Secrets = z.array(z.looseObject({ name: z.string() }));
/** wrangler's message about a Worker that does not exist, and Cloudflare's code. */
const NO_WORKER = /Worker "[^"]*" not found|\b10007\b/;

/** The names of the Worker's secrets; null: there is no such Worker. Throws wrangler's message. */
async function secretsOf({ run, env }: DeployOptions, name: string): Promise<string[] | null> {
  const result = await run(["secret", "list", "--name", name, "--format", "json"], { env: { ...env } });
  if (result.code === 0) return Secrets.parse(JSON.parse(result.stdout)).map((secret) => secret.name);
  if (NO_WORKER.test(result.stdout + result.stderr)) return null;
  throw new Error(`${reasonOf(result)} (docs/deploying.md has the permissions of a token)`);
}

const Output = z.object({ type: z.string(), targets: z.array(z.string()).optional() });

/** Deploys the Worker with these secrets. Returns its URL, if wrangler reports it. */
async function deployWorker(
  { run, env, args }: DeployOptions,
  secrets: Readonly<Record<string, string>>,
): Promise<string | null> {
  const parent = join(ROOT, ".wrangler");
  mkdirSync(parent, { recursive: true });
  // A deploy that was killed left its secrets.
  sweepLeftovers(parent, "deploy-", new Date());
  const folder = mkdtempSync(join(parent, "deploy-"));
  const [output, secretsFile] = [join(folder, "output.jsonl"), join(folder, "secrets.json")];
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // Ctrl-C ends the process.
  process.once("exit", remove);
  try {
    writeFileSync(secretsFile, JSON.stringify(secrets), { mode: 0o600 });
    const withSecrets = Object.keys(secrets).length > 0 ? ["--secrets-file", secretsFile] : [];
    const result = await run(["deploy", ...withSecrets, ...args], {
      isShown: true,
      env: { ...env, WRANGLER_OUTPUT_FILE_PATH: output },
    });
    if (result.code !== 0) throw new Error(`The deploy failed${adviceFor(result.stderr)}`);
    return existsSync(output) ? urlOf(readFileSync(output, "utf8")) : null;
  } finally {
    process.off("exit", remove);
    remove();
  }
}

/** Advice by Cloudflare's messages and codes. */
const ADVICE: readonly [RegExp, string][] = [
  [
    /\b10042\b|bucket/,
    ": the account has no R2. Enable it in Cloudflare's dashboard, or remove [[r2_buckets]] from wrangler.toml",
  ],
  [
    /\b10063\b/,
    ": the account's first Worker needs a workers.dev subdomain. Open Workers & Pages in Cloudflare's dashboard once",
  ],
];
const adviceFor = (text: string): string =>
  ADVICE.find(([code]) => code.test(text))?.[1] ?? "; run `npm run deploy` again to continue";

/** The URL of a Worker in wrangler's output, which has a line of JSON for each event. Its routes may have patterns. */
function urlOf(lines: string): string | null {
  const targets = lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => Output.parse(JSON.parse(line)))
    .flatMap((event) => (event.type === "deploy" ? (event.targets ?? []) : []));
  const hosts = targets.flatMap(
    (target) => /^(?:https:\/\/)?((?:[\w-]+\.)+[a-z]+)(?:$|\/\*|\s)/.exec(target)?.[1] ?? [],
  );
  // Prefers the operator's own host to workers.dev.
  const host = hosts.find((name) => !name.endsWith(".workers.dev")) ?? hosts[0];
  return host === undefined ? null : `https://${host}`;
}
