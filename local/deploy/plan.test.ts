import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { ROOT } from "../home/constants.ts";
import { type Account, emptyAccount } from "./account/read-account.ts";
import { deployConfig, readConfig } from "./configs.ts";
import { urlOf } from "./execute.ts";
import { readArguments } from "./options.ts";
import { planDeploy } from "./plan.ts";
import { planSecrets } from "./secrets.ts";

const CONFIG = readConfig();
const SECRETS = ["MASTER_SECRET", "ADMIN_TOKEN"];
const QUIET = {
  tag: "copra-1",
  known: new Set<string>(),
  pending: [],
  isBuild: false,
  rotation: null,
  isForced: false,
  isUrlKnown: true,
  subdomain: undefined,
};
const deployed = (tag: string | null): Account => ({
  databaseId: "id",
  bucket: "found",
  subdomain: "someone",
  worker: { tag },
  secrets: SECRETS,
});

describe("a deploy", () => {
  it.each<[string, Account, Partial<typeof QUIET>, boolean]>([
    ["of a new service deploys the Worker", emptyAccount(CONFIG), {}, true],
    ["replaces what has changed", deployed("copra-0"), {}, true],
    ["replaces what somebody else has deployed", deployed(null), {}, true],
    ["replaces a Worker without one of its secrets", { ...deployed("copra-1"), secrets: ["MASTER_SECRET"] }, {}, true],
    ["of what is there changes nothing", deployed("copra-1"), {}, false],
    ["deploys again what has not changed when it is forced", deployed("copra-1"), { isForced: true }, true],
    ["deploys again where its URL is not known", deployed("copra-1"), { isUrlKnown: false }, true],
  ])("a deploy %s", (_, account, circumstances, deploys) => {
    expect(planDeploy(CONFIG, account, { ...QUIET, ...circumstances }).deploys).toBe(deploys);
  });

  it("makes no secrets in Cloudflare's builds, because the form of the deploy button asks for them", () => {
    const plan = planDeploy(CONFIG, emptyAccount(CONFIG), { ...QUIET, isBuild: true });
    expect([plan.deploys, plan.secrets]).toEqual([true, { make: [], ask: [], put: [] }]);
  });

  it("creates the resources that the account lacks", () => {
    const { registerSubdomain, createBucket, createDatabase } = planDeploy(CONFIG, emptyAccount(CONFIG), QUIET);
    expect([registerSubdomain, createBucket, createDatabase]).toEqual([true, true, true]);
    expect(planDeploy(CONFIG, { ...emptyAccount(CONFIG), subdomain: "someone" }, QUIET).registerSubdomain).toBe(false);
    expect(planDeploy(CONFIG, { ...emptyAccount(CONFIG), bucket: "off" }, QUIET).createBucket).toBe(false);
  });
});

describe("a service with its own host", () => {
  const ROUTED = { ...CONFIG, routes: [{ pattern: "encode.example.com", custom_domain: true }] };

  it("needs no workers.dev subdomain, unless the operator names one", () => {
    expect(planDeploy(ROUTED, emptyAccount(CONFIG), QUIET).registerSubdomain).toBe(false);
    expect(planDeploy(ROUTED, emptyAccount(CONFIG), { ...QUIET, subdomain: "someone" }).registerSubdomain).toBe(true);
  });

  it("answers at workers.dev only if wrangler.toml has workers_dev = true", () => {
    const configs = [CONFIG, ROUTED, { ...ROUTED, workers_dev: true }];
    const answers = configs.map((config) => deployConfig(config, { databaseId: "id", hasBucket: false }));
    expect(answers).toMatchObject([{ workers_dev: true }, { workers_dev: false }, { workers_dev: true }]);
  });
});

it("gives each service of an account its own rate limits", () => {
  const Limits = z.object({ ratelimits: z.array(z.object({ namespace_id: z.string().regex(/^[1-9]\d{0,9}$/) })) });
  const ids = ["copra", "copra-staging", "copra"].map((name) =>
    Limits.parse(deployConfig({ ...CONFIG, name }, { databaseId: "id", hasBucket: false })).ratelimits.map(
      ({ namespace_id: id }) => id,
    ),
  );
  expect(new Set(ids.flat()).size).toBe(2 * CONFIG.ratelimits.length);
  expect(ids[2]).toEqual(ids[0]);
});

const NONE: string[] = [];
const SCRATCH = { vars: { SCRATCH_BUCKET: "b", SCRATCH_ACCESS_KEY_ID: "a" } };

it.each([
  ["a new service: makes its two", [CONFIG, NONE, NONE], { make: SECRETS, ask: [], put: SECRETS }],
  ["an interrupted deploy: uses those that were made", [CONFIG, NONE, SECRETS], { make: [], ask: [], put: SECRETS }],
  [
    "keys of its own: needs no master secret",
    [CONFIG, ["KEY_PEPPER", "SEALING_KEYS", "ADMIN_TOKEN"], NONE],
    { make: [], ask: [], put: [] },
  ],
  [
    "a scratch bucket: asks for those of its keys that are not in wrangler.toml",
    [SCRATCH, SECRETS, NONE],
    { make: [], ask: ["SCRATCH_SECRET_ACCESS_KEY"], put: ["SCRATCH_SECRET_ACCESS_KEY"] },
  ],
] as const)("plans the secrets of %s", (_, [config, has, known], plan) => {
  expect(planSecrets(config, has, new Set(known))).toEqual(plan);
});

it("binds all objects and the resources of the account to the Worker", () => {
  expect(deployConfig(CONFIG, { databaseId: "id-of-database", hasBucket: true })).toMatchObject({
    name: "copra",
    durable_objects: {
      bindings: [
        { name: "JOB", class_name: "JobObject" },
        { name: "HUB", class_name: "NodeHub" },
        { name: "ACCOUNT", class_name: "AccountObject" },
      ],
    },
    d1_databases: [{ binding: "DB", database_id: "id-of-database" }],
    r2_buckets: [{ binding: "STORAGE" }],
  });
  expect(deployConfig(CONFIG, { databaseId: "id", hasBucket: false })).toMatchObject({ r2_buckets: [] });
});

it.each([
  [["copra.someone.workers.dev", "schedule: */2 * * * *"], "https://copra.someone.workers.dev"],
  [["copra.someone.workers.dev", "encode.example.com (custom domain)"], "https://encode.example.com"],
  [["example.com/* (zone id: 1)"], "https://example.com"],
  [["schedule: */2 * * * *"], null],
])("finds the service's URL in %j", (targets, url) => {
  const lines = [{ type: "wrangler-session" }, { type: "deploy", targets }].map((line) => JSON.stringify(line));
  expect(urlOf(`${lines.join("\n")}\n`)).toBe(url);
});

it("passes on arguments that the command does not know", () => {
  expect(readArguments(["--dry-run", "--minify", "--outdir", "a", "--var", "X:1"])).toMatchObject({
    isDry: true,
    isForced: false,
    rotation: null,
    outdir: "a",
    extra: ["--minify", "--var", "X:1"],
  });
  expect(readArguments(["--outdir=a", "--force", "--subdomain", "someone", "--location=weur"])).toEqual({
    isDry: false,
    isForced: true,
    rotation: null,
    subdomain: "someone",
    location: "weur",
    outdir: "a",
    extra: [],
  });
  expect(() => readArguments(["--location", "Paris"])).toThrow("--location must be one of wnam, enam, weur");
});

describe("variables for networks that no Worker on Cloudflare can reach", () => {
  it.each([
    [
      'ALLOW_PRIVATE = "all"',
      /ALLOW_PRIVATE must be "none", because a Worker on Cloudflare reaches no private network/,
    ],
    [
      'ALLOW_PRIVATE = "none"\nALLOW_ORIGINS = "http://10.0.0.5:9000"',
      /`http:\/\/10.0.0.5:9000` has the host .* not a public/,
    ],
    [
      'ALLOW_PRIVATE = "none"\nALLOW_ORIGINS = "https://a.example.com,https://8.8.8.8"',
      /`https:\/\/8.8.8.8` .*an IP address/,
    ],
    ['ALLOW_PRIVATE = "none"\nALLOW_ORIGINS = "https://a.example.com"', null],
  ])("a deploy rejects the variables: %s", (lines, message) => {
    const folder = mkdtempSync(join(tmpdir(), "copra-config-"));
    const file = join(folder, "wrangler.toml");
    const text = readFileSync(join(ROOT, "wrangler.toml"), "utf8");
    try {
      writeFileSync(file, text.replace('ALLOW_PRIVATE = "none"', lines));
      if (message) expect(() => readConfig(undefined, file)).toThrow(message);
      else expect(readConfig(undefined, file).name).toBe("copra");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
