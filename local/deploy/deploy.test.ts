// Deploys to a fake account, with a stand-in for wrangler; two-workers.slow.test.ts has one with wrangler itself.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ROOT } from "../home/constants.ts";
import { deploy } from "./run-deploy.ts";
import { ACCOUNT_ID, FakeCloudflare } from "./testing/fake-cloudflare.ts";
import { quickWrangler } from "./testing/quick-wrangler.ts";

let account: FakeCloudflare;
let folder: string;
let printed: string[];
let asked: string[];
let code: string;
beforeEach(async () => {
  account = await FakeCloudflare.start();
  folder = mkdtempSync(join(tmpdir(), "copra-deploy-"));
  [printed, asked, code] = [[], [], "code"];
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await account.close();
  expect(account.unknown).toEqual([]);
});

const stateFile = (): string => join(folder, "copra.json");

/** Returns what changed the account. */
async function deployOnce(args: string[] = [], env: Record<string, string> = {}): Promise<string[]> {
  account.changes.length = 0;
  await deploy({
    run: quickWrangler(account.env.CLOUDFLARE_API_BASE_URL ?? "", () => code),
    args,
    env: { ...account.env, ...env },
    print: (line) => printed.push(line),
    ask: async (name) => {
      asked.push(name);
      return `${name} of the operator`;
    },
    stateFile: stateFile(),
    fetch: async (url) =>
      String(url).endsWith("/v2/health")
        ? Response.json({ status: "ok", nodes: 0 })
        : Response.json({ error_code: "authentication_failed", message: "no" }, { status: 401 }),
  }).finally(() => Object.assign(account, { failsOnce: null }));
  return account.changes.filter((change) => !change.startsWith("migrate"));
}

const FIRST = [
  "deploy copra-hub with MASTER_SECRET",
  "deploy copra with ADMIN_TOKEN MASTER_SECRET",
  "deploy copra-hub",
];

it("makes what the account lacks, migrates before there is code, and then changes nothing", async () => {
  expect(await deployOnce(["--dry-run"])).toEqual([]);
  const all = ["create bucket copra-storage", "create database copra", ...FIRST];
  expect(await deployOnce()).toEqual(all);
  const firstDeploy = account.changes.findIndex((change) => change.startsWith("deploy"));
  expect(account.changes[firstDeploy - 1]).toMatch(/^migrate 00/);
  expect(account.workers.get("copra")?.secrets.MASTER_SECRET).toBe(
    account.workers.get("copra-hub")?.secrets.MASTER_SECRET,
  );
  printed = [];
  expect(await deployOnce()).toEqual([]);
  expect(account.changes).toEqual([]);
  expect(printed.slice(0, 2)).toEqual([
    "Everything is as it should be",
    "copra-hub has not changed: its nodes stay connected",
  ]);
  code = "other code";
  expect(await deployOnce()).toEqual(["deploy copra-hub", "deploy copra"]);
  expect(asked).toEqual([]);
});

it("keeps what it made in a file that only its owner can read, and prints no secret of the operator", async () => {
  await deployOnce();
  const { services } = JSON.parse(readFileSync(stateFile(), "utf8"));
  const { secrets, url, databaseId } = services[`/accounts/${ACCOUNT_ID}/copra`];
  expect(statSync(stateFile()).mode & 0o777).toBe(0o600);
  expect([url, databaseId]).toEqual(["https://copra.someone.workers.dev", [...account.databases.keys()][0]]);
  expect(secrets).toEqual(account.workers.get("copra")?.secrets);
  for (const value of Object.values(secrets)) expect(printed.join("\n")).not.toContain(value);
});

/** What a deploy does after one that ended when the hub was there. */
const REST = ["deploy copra-hub with MASTER_SECRET", "deploy copra with ADMIN_TOKEN MASTER_SECRET", "deploy copra-hub"];
const masterSecretOf = (worker: string): string | undefined => account.workers.get(worker)?.secrets.MASTER_SECRET;

it("goes on where it was interrupted, with the same secrets", async () => {
  account.failsOnce = "copra";
  await expect(deployOnce()).rejects.toThrow("Deploying copra failed; npm run deploy goes on where it ended");
  const made = masterSecretOf("copra-hub");
  expect(await deployOnce()).toEqual(REST);
  expect([masterSecretOf("copra"), masterSecretOf("copra-hub")]).toEqual([made, made]);
});

it("gives both Workers the same secret although the state of an interrupted deploy was lost", async () => {
  account.failsOnce = "copra";
  await expect(deployOnce()).rejects.toThrow("Deploying copra failed");
  const lost = masterSecretOf("copra-hub");
  rmSync(stateFile());
  expect(await deployOnce()).toEqual(REST);
  expect(masterSecretOf("copra")).toBe(masterSecretOf("copra-hub"));
  expect(masterSecretOf("copra")).not.toBe(lost);
});

it("deletes what a killed deploy left, and leaves that of one that may run", async () => {
  const parent = join(ROOT, ".wrangler");
  mkdirSync(parent, { recursive: true });
  const [left, inUse] = [mkdtempSync(join(parent, "deploy-")), mkdtempSync(join(parent, "deploy-"))];
  const hoursAgo = new Date(Date.now() - 2 * 3_600_000);
  utimesSync(left, hoursAgo, hoursAgo);
  await deployOnce(["--dry-run"]);
  expect([existsSync(left), existsSync(inUse)]).toEqual([false, true]);
  rmSync(inUse, { recursive: true });
});

it("deploys without a bucket to an account without R2, and with it once there is one", async () => {
  account.hasR2 = false;
  expect(await deployOnce()).toEqual(["create database copra", ...FIRST]);
  expect(printed.join("\n")).toContain("This account has no R2");
  account.hasR2 = true;
  expect(await deployOnce()).toEqual(["create bucket copra-storage", "deploy copra"]);
});

it("asks once for what only the operator knows, when the state of another machine is missing", async () => {
  await deployOnce();
  rmSync(stateFile());
  const hub = account.workers.get("copra-hub");
  if (hub) hub.secrets = {};
  expect(await deployOnce()).toEqual(["deploy copra-hub with MASTER_SECRET", "deploy copra"]);
  expect(asked).toEqual(["MASTER_SECRET"]);
  expect(printed.join("\n")).toContain("With COPRA_ADMIN_TOKEN, the next deploy also creates the first account");
  expect(await deployOnce([], { COPRA_ADMIN_TOKEN: "wrong" })).toEqual([]);
  expect(asked).toEqual(["MASTER_SECRET"]);
});

it("rotates the master secret for both Workers, and removes the old one later", async () => {
  await deployOnce();
  const secretOf = (name: string): string => account.workers.get(name)?.secrets.MASTER_SECRET ?? "";
  const old = secretOf("copra");
  await expect(deployOnce(["--drop-old-master-secret"])).rejects.toThrow("There is one MASTER_SECRET");
  const rotated = ["deploy copra-hub with MASTER_SECRET", "deploy copra with MASTER_SECRET"];
  expect(await deployOnce(["--rotate-master-secret"])).toEqual(rotated);
  expect(secretOf("copra")).toMatch(new RegExp(`^[\\w-]{43},${old}$`));
  expect(secretOf("copra-hub")).toBe(secretOf("copra"));
  expect(await deployOnce()).toEqual([]);
  expect(await deployOnce(["--drop-old-master-secret"])).toEqual(rotated);
  expect(secretOf("copra")).toMatch(/^[\w-]{43}$/);
  expect([secretOf("copra-hub"), secretOf("copra") === old]).toEqual([secretOf("copra"), false]);
});

it("finishes an interrupted rotation before the old master secret can go, and keeps that", async () => {
  await deployOnce();
  const secretsOf = (name: string): string[] => account.workers.get(name)?.secrets.MASTER_SECRET?.split(",") ?? [];
  const [old = ""] = secretsOf("copra");
  account.failsOnce = "copra";
  await expect(deployOnce(["--rotate-master-secret"])).rejects.toThrow("Deploying copra failed");
  expect([secretsOf("copra"), secretsOf("copra-hub").at(-1)]).toEqual([[old], old]);
  for (const option of ["--drop-old-master-secret", "--rotate-master-secret"]) {
    await expect(deployOnce([option])).rejects.toThrow("is not in both Workers yet: run npm run deploy first");
  }
  expect(await deployOnce([], { MASTER_SECRET: old })).toEqual(["deploy copra with MASTER_SECRET"]);
  expect([secretsOf("copra"), secretsOf("copra").length]).toEqual([secretsOf("copra-hub"), 2]);
  account.failsOnce = "copra-hub";
  await expect(deployOnce(["--drop-old-master-secret"])).rejects.toThrow("Deploying copra-hub failed");
  expect(await deployOnce()).toEqual(["deploy copra-hub with MASTER_SECRET", "deploy copra with MASTER_SECRET"]);
  expect([secretsOf("copra"), secretsOf("copra").length]).toEqual([secretsOf("copra-hub"), 1]);
  const { services } = JSON.parse(readFileSync(stateFile(), "utf8"));
  expect(services[`/accounts/${ACCOUNT_ID}/copra`]).toMatchObject({ dropped: [old], pending: { main: [], hub: [] } });
  expect(statSync(stateFile()).mode & 0o777).toBe(0o600);
  expect(await deployOnce()).toEqual([]);
});

it("rotates what it stored, also when the environment still has the first master secret", async () => {
  const first = { MASTER_SECRET: "m".repeat(32) };
  const secretsOf = (name: string): string[] => account.workers.get(name)?.secrets.MASTER_SECRET?.split(",") ?? [];
  await deployOnce([], first);
  await deployOnce(["--rotate-master-secret"], first);
  const two = secretsOf("copra");
  await deployOnce(["--rotate-master-secret"], first);
  expect([secretsOf("copra").slice(1), two.at(-1)]).toEqual([two, first.MASTER_SECRET]);
  await expect(deployOnce(["--rotate-master-secret"], { MASTER_SECRET: "x".repeat(32) })).rejects.toThrow(
    "MASTER_SECRET in the environment differs from that in .wrangler/copra.json",
  );
  const [newest] = secretsOf("copra");
  await deployOnce(["--drop-old-master-secret"], first);
  expect([secretsOf("copra"), secretsOf("copra-hub")]).toEqual([[newest], [newest]]);
});

it("changes a service with keys of its own to a master secret", async () => {
  await deployOnce();
  for (const worker of account.workers.values())
    worker.secrets = { SEALING_KEYS: "k1:…", KEY_PEPPER: "p", ADMIN_TOKEN: "a" };
  rmSync(stateFile());
  expect(await deployOnce(["--rotate-master-secret"])).toEqual([
    ...["deploy copra-hub with MASTER_SECRET", "deploy copra with MASTER_SECRET"],
  ]);
  expect(asked).toEqual([]);
});

it("takes secrets from the environment", async () => {
  await deployOnce([], { MASTER_SECRET: "m".repeat(32), ADMIN_TOKEN: "a".repeat(32) });
  expect(account.workers.get("copra")?.secrets).toEqual({ MASTER_SECRET: "m".repeat(32), ADMIN_TOKEN: "a".repeat(32) });
});

it("deploys both Workers for the first time where the main one has only secrets", async () => {
  const empty = { main_module: "", bindings: [] };
  const draft = { versionId: "1", metadata: empty, modules: {}, migrationTag: null, createdAt: "2026-01-01T00:00:00Z" };
  account.workers.set("copra", { ...draft, name: "copra", secrets: { ADMIN_TOKEN: "a".repeat(32) } });
  expect((await deployOnce()).slice(2)).toEqual([
    ...["deploy copra-hub with MASTER_SECRET", "deploy copra with MASTER_SECRET", "deploy copra-hub"],
  ]);
});

it("deploys one Worker under the name that a build of Cloudflare gives", async () => {
  const build = { WORKERS_CI: "1", WRANGLER_CI_OVERRIDE_NAME: "encoder" };
  expect(await deployOnce([], build)).toEqual([
    "create bucket copra-storage",
    "create database copra",
    "deploy encoder",
  ]);
});

it("lets the operator choose between several accounts", async () => {
  account.accounts.push({ id: "f".repeat(32), name: "Somebody else's" });
  await expect(deployOnce()).rejects.toThrow(
    /choose one .*\n {2}CLOUDFLARE_ACCOUNT_ID=0123456789abcdef\w+ {3}Someone's account/,
  );
  expect(await deployOnce([], { CLOUDFLARE_ACCOUNT_ID: ACCOUNT_ID })).toContain("deploy copra-hub");
});

it("reports what Cloudflare does not accept", async () => {
  await expect(deployOnce([], { CLOUDFLARE_API_TOKEN: "wrong" })).rejects.toThrow(
    "Authentication error [code: 10000]. The credentials lack a permission",
  );
});
