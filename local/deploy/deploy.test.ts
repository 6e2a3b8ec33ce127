// Deploys to a fake account with a stand-in for wrangler. with-wrangler.slow.test.ts runs wrangler itself.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { ensureAssets } from "../assets/assets.ts";
import { ROOT } from "../home/constants.ts";
import { deploy } from "./run-deploy.ts";
import { ACCOUNT_ID, FakeCloudflare, TOKEN } from "./testing/fake-cloudflare.ts";
import { quickWrangler } from "./testing/quick-wrangler.ts";

// Files that another process builds meanwhile would change the service.
beforeAll(() => ensureAssets());

let account: FakeCloudflare;
let folder: string;
let printed: string[];
let asked: string[];
let code: string;
/** The subdomain that the operator enters. */
let chosen: string;
beforeEach(async () => {
  account = await FakeCloudflare.start();
  folder = mkdtempSync(join(tmpdir(), "copra-deploy-"));
  [printed, asked, code, chosen] = [[], [], "code", "someone"];
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await account.close();
  expect(account.unknown).toEqual([]);
});

const stateFile = (): string => join(folder, "copra.json");

/** Returns the changes in the account. */
async function deployOnce(args: string[] = [], env: Record<string, string> = {}): Promise<string[]> {
  account.changes.length = 0;
  await deploy({
    run: quickWrangler(account.env.CLOUDFLARE_API_BASE_URL ?? "", () => code),
    args,
    env: { ...account.env, ...env },
    print: (line) => printed.push(line),
    buildAssets: async () => {},
    ask: async (name) => {
      asked.push(name);
      return `${name} of the operator`;
    },
    askSubdomain: async () => {
      asked.push("subdomain");
      return chosen;
    },
    stateFile: stateFile(),
    fetch: async (url) =>
      String(url).endsWith("/v2/health")
        ? Response.json({ status: "ok", nodes: 0 })
        : Response.json({ error_code: "authentication_failed", message: "no" }, { status: 401 }),
  }).finally(() => Object.assign(account, { failsOnce: null }));
  return account.changes.filter((change) => !change.startsWith("migrate"));
}

const FIRST = ["deploy copra with ADMIN_TOKEN MASTER_SECRET"];

it("creates missing resources, migrates before the Worker has code, and then changes nothing", async () => {
  expect(await deployOnce(["--dry-run"])).toEqual([]);
  const all = ["create bucket copra-storage", "create database copra", ...FIRST];
  expect(await deployOnce()).toEqual(all);
  const firstDeploy = account.changes.findIndex((change) => change.startsWith("deploy"));
  expect(account.changes[firstDeploy - 1]).toMatch(/^migrate 00/);
  printed = [];
  expect(await deployOnce()).toEqual([]);
  expect(account.changes).toEqual([]);
  expect(printed[0]).toBe("Everything is as it should be");
  code = "other code";
  expect(await deployOnce()).toEqual(["deploy copra"]);
  expect(asked).toEqual([]);
});

it("keeps its secrets in a file that only its owner can read, and prints no secret of the operator", async () => {
  await deployOnce();
  const { services } = JSON.parse(readFileSync(stateFile(), "utf8"));
  const { secrets, url, databaseId } = services[`/accounts/${ACCOUNT_ID}/copra`];
  expect(statSync(stateFile()).mode & 0o777).toBe(0o600);
  expect([url, databaseId]).toEqual(["https://copra.someone.workers.dev", [...account.databases.keys()][0]]);
  expect(secrets).toEqual(account.workers.get("copra")?.secrets);
  for (const value of Object.values(secrets)) expect(printed.join("\n")).not.toContain(value);
});

const secretsOf = (): Record<string, string> => account.workers.get("copra")?.secrets ?? {};
const masterSecrets = (): string[] => secretsOf().MASTER_SECRET?.split(",") ?? [];

it("registers a workers.dev subdomain before anything else in a new account", async () => {
  account.subdomain = null;
  expect(await deployOnce(["--dry-run"])).toEqual([]);
  expect(printed[0]).toBe("Register <name>.workers.dev for the account");
  const all = ["register someone.workers.dev", "create bucket copra-storage", "create database copra", ...FIRST];
  expect(await deployOnce()).toEqual(all);
  expect(asked).toEqual(["subdomain"]);
  expect([await deployOnce(), asked.length]).toEqual([[], 1]);
});

it("takes the name of the subdomain from --subdomain, and makes nothing when the name is taken", async () => {
  account.subdomain = null;
  chosen = "taken";
  await expect(deployOnce()).rejects.toThrow(/10031.* Choose another name: npm run deploy -- --subdomain <name>/);
  expect(account.changes).toEqual([]);
  asked = [];
  expect((await deployOnce(["--subdomain", "someone"]))[0]).toBe("register someone.workers.dev");
  expect([await deployOnce(["--subdomain", "other"]), account.subdomain, asked]).toEqual([[], "someone", []]);
});

it("suggests --subdomain when Cloudflare requires a subdomain for the account's first Worker", async () => {
  account.failsOnce = "copra";
  account.failure = { code: 10063, message: "You need a workers.dev subdomain in order to proceed." };
  await expect(deployOnce()).rejects.toThrow(/Deploying copra failed.* --subdomain <name>/);
});

it("does not touch a foreign Worker with the service's name", async () => {
  const foreign = await uploadWorker({ binding: "KV", type: "kv_namespace" });
  await expect(deployOnce()).rejects.toThrow(
    /has a Worker copra that is not Copra's, .* Choose another name .* in wrangler\.toml/,
  );
  expect([account.changes, account.workers.get("copra")?.versionId]).toEqual([[], foreign]);
  const build = await deployOnce([], { WORKERS_CI: "1" });
  expect(build.at(-1)).toBe("deploy copra");
});

it("deploys over a Worker that wrangler alone has deployed", async () => {
  await uploadWorker({ binding: "JOB", type: "durable_object_namespace" });
  expect((await deployOnce()).slice(2)).toEqual(FIRST);
});

it("creates the database in the region of --location", async () => {
  expect(await deployOnce(["--location", "weur"])).toContain("create database copra in weur");
  expect(printed).toContain("Create the database copra in weur");
});

/** Uploads a Worker without a tag under the service's name; returns its version. */
async function uploadWorker({ binding, type }: { binding: string; type: string }): Promise<string | undefined> {
  const body = new FormData();
  body.set("metadata", JSON.stringify({ main_module: "worker.js", bindings: [{ name: binding, type }] }));
  const url = `${account.env.CLOUDFLARE_API_BASE_URL}/accounts/${ACCOUNT_ID}/workers/scripts/copra`;
  await fetch(url, { method: "PUT", body, headers: { authorization: `Bearer ${TOKEN}` } });
  return account.workers.get("copra")?.versionId;
}

it("continues an interrupted deploy with the same secrets", async () => {
  account.failsOnce = "copra";
  await expect(deployOnce()).rejects.toThrow("Deploying copra failed; npm run deploy goes on where it ended");
  const { services } = JSON.parse(readFileSync(stateFile(), "utf8"));
  const { secrets } = services[`/accounts/${ACCOUNT_ID}/copra`];
  expect(await deployOnce()).toEqual(FIRST);
  expect(secretsOf()).toEqual(secrets);
});

it("deletes the folder of a killed deploy, and keeps the folder of a deploy that may run", async () => {
  const parent = join(ROOT, ".wrangler");
  mkdirSync(parent, { recursive: true });
  const [left, inUse] = [mkdtempSync(join(parent, "deploy-")), mkdtempSync(join(parent, "deploy-"))];
  const hoursAgo = new Date(Date.now() - 2 * 3_600_000);
  utimesSync(left, hoursAgo, hoursAgo);
  await deployOnce(["--dry-run"]);
  expect([existsSync(left), existsSync(inUse)]).toEqual([false, true]);
  rmSync(inUse, { recursive: true });
});

it("deploys without a bucket to an account without R2, and adds the bucket later", async () => {
  account.hasR2 = false;
  expect(await deployOnce()).toEqual(["create database copra", ...FIRST]);
  expect(printed.join("\n")).toContain("This account has no R2");
  account.hasR2 = true;
  expect(await deployOnce()).toEqual(["create bucket copra-storage", "deploy copra"]);
});

it("asks once for values that only the operator knows, when the state of another machine is missing", async () => {
  await deployOnce();
  rmSync(stateFile());
  expect(await deployOnce(["--rotate-master-secret"])).toEqual(["deploy copra with MASTER_SECRET"]);
  expect(asked).toEqual(["MASTER_SECRET"]);
  expect(masterSecrets()[1]).toBe("MASTER_SECRET of the operator");
  expect(printed.join("\n")).toContain("With COPRA_ADMIN_TOKEN, the next deploy also creates the first account");
  expect(await deployOnce([], { COPRA_ADMIN_TOKEN: "wrong" })).toEqual([]);
  expect(asked).toEqual(["MASTER_SECRET"]);
});

it("rotates the master secret, and removes the old secret later", async () => {
  await deployOnce();
  const [old = ""] = masterSecrets();
  await expect(deployOnce(["--drop-old-master-secret"])).rejects.toThrow("There is one MASTER_SECRET");
  expect(await deployOnce(["--rotate-master-secret"])).toEqual(["deploy copra with MASTER_SECRET"]);
  expect(masterSecrets()).toEqual([expect.stringMatching(/^[\w-]{43}$/), old]);
  expect(await deployOnce()).toEqual([]);
  const [newest] = masterSecrets();
  expect(await deployOnce(["--drop-old-master-secret"])).toEqual(["deploy copra with MASTER_SECRET"]);
  expect(masterSecrets()).toEqual([newest]);
});

it("finishes an interrupted rotation before the old master secret can be removed, and keeps that secret", async () => {
  await deployOnce();
  const [old = ""] = masterSecrets();
  account.failsOnce = "copra";
  await expect(deployOnce(["--rotate-master-secret"])).rejects.toThrow("Deploying copra failed");
  expect(masterSecrets()).toEqual([old]);
  for (const option of ["--drop-old-master-secret", "--rotate-master-secret"]) {
    await expect(deployOnce([option])).rejects.toThrow("is not in the Worker yet: run npm run deploy first");
  }
  expect(await deployOnce([], { MASTER_SECRET: old })).toEqual(["deploy copra with MASTER_SECRET"]);
  expect(masterSecrets()).toEqual([expect.not.stringContaining(old), old]);
  await deployOnce(["--drop-old-master-secret"]);
  const { services } = JSON.parse(readFileSync(stateFile(), "utf8"));
  expect(services[`/accounts/${ACCOUNT_ID}/copra`]).toMatchObject({ dropped: [old], pending: [] });
  expect(statSync(stateFile()).mode & 0o777).toBe(0o600);
  expect(await deployOnce()).toEqual([]);
});

it("rotates the stored secret, even if the environment still has the first master secret", async () => {
  const first = { MASTER_SECRET: "m".repeat(32) };
  await deployOnce([], first);
  await deployOnce(["--rotate-master-secret"], first);
  const two = masterSecrets();
  await deployOnce(["--rotate-master-secret"], first);
  expect([masterSecrets().slice(1), two.at(-1)]).toEqual([two, first.MASTER_SECRET]);
  await expect(deployOnce(["--rotate-master-secret"], { MASTER_SECRET: "x".repeat(32) })).rejects.toThrow(
    "MASTER_SECRET in the environment differs from that in .wrangler/copra.json",
  );
  const [newest] = masterSecrets();
  await deployOnce(["--drop-old-master-secret"], first);
  expect(masterSecrets()).toEqual([newest]);
});

it("changes a service with separate keys to a master secret", async () => {
  await deployOnce();
  const worker = account.workers.get("copra");
  if (worker) worker.secrets = { SEALING_KEYS: "k1:…", KEY_PEPPER: "p", ADMIN_TOKEN: "a" };
  rmSync(stateFile());
  expect(await deployOnce(["--rotate-master-secret"])).toEqual(["deploy copra with MASTER_SECRET"]);
  expect(asked).toEqual([]);
});

it("takes secrets from the environment", async () => {
  await deployOnce([], { MASTER_SECRET: "m".repeat(32), ADMIN_TOKEN: "a".repeat(32) });
  expect(account.workers.get("copra")?.secrets).toEqual({ MASTER_SECRET: "m".repeat(32), ADMIN_TOKEN: "a".repeat(32) });
});

it("deploys for the first time to a Worker that has only secrets", async () => {
  const empty = { main_module: "", bindings: [] };
  const draft = { versionId: "1", metadata: empty, modules: {}, createdAt: "2026-01-01T00:00:00Z" };
  account.workers.set("copra", { ...draft, name: "copra", secrets: { ADMIN_TOKEN: "a".repeat(32) } });
  expect((await deployOnce()).slice(2)).toEqual(["deploy copra with MASTER_SECRET"]);
});

it("deploys under the name that Cloudflare's build sets", async () => {
  const build = { WORKERS_CI: "1", WRANGLER_CI_OVERRIDE_NAME: "encoder" };
  expect(await deployOnce([], build)).toEqual([
    "create bucket copra-storage",
    "create database copra",
    "deploy encoder",
  ]);
});

it("lets the operator choose between several accounts", async () => {
  account.accounts.push({ id: "f".repeat(32), name: "Somebody else's", type: "standard" });
  await expect(deployOnce()).rejects.toThrow(
    /choose an account .*\n {2}CLOUDFLARE_ACCOUNT_ID=0123456789abcdef\w+ {3}Someone's account/,
  );
  expect(await deployOnce([], { CLOUDFLARE_ACCOUNT_ID: ACCOUNT_ID })).toContain(
    "deploy copra with ADMIN_TOKEN MASTER_SECRET",
  );
});

it("reports Cloudflare's errors", async () => {
  await expect(deployOnce([], { CLOUDFLARE_API_TOKEN: "wrong" })).rejects.toThrow(
    /Authentication error \[code: 10000\]\. The credentials are not valid, or lack a permission: the token needs /,
  );
});

it.each([
  ["/d1/", 7403, "D1: Edit"],
  ["/r2/", 10000, "Workers R2 Storage: Edit"],
  ["/workers/", 10001, "Workers Scripts: Edit"],
  ["/accounts", 9109, "Account Settings: Read"],
])("names the missing permission of the token for %s (code %i)", async (start, code, permission) => {
  account.denied = { start, code };
  await expect(deployOnce()).rejects.toThrow(
    `[code: ${code}]. The credentials are not valid, or lack a permission: the token needs ${permission}; in a build`,
  );
});
