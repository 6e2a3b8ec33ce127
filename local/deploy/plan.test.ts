import { describe, expect, it } from "vitest";
import { type Account, emptyAccount } from "./account/read-account.ts";
import { hubConfig, mainConfig, readConfig } from "./configs.ts";
import { urlOf } from "./execute.ts";
import { readArguments } from "./options.ts";
import { planDeploy } from "./plan.ts";
import { planSecrets } from "./secrets.ts";

const CONFIG = readConfig();
const RESOURCES = { databaseId: "id-of-database", hasBucket: true };
const TAGS = { main: "main-1", hub: "hub-1" };
const QUIET = {
  tags: TAGS,
  known: new Set<string>(),
  pending: { main: [], hub: [] },
  asOneWorker: false,
  rotation: null,
  isForced: false,
  isUrlKnown: true,
};
const NEW_HUB = { worker: "hub", hasJobs: true } as const;
const main = (hadHub: boolean) => ({ worker: "main", hadHub }) as const;

const SECRETS = { main: ["MASTER_SECRET", "ADMIN_TOKEN"], hub: ["MASTER_SECRET"] };
const deployed = (mainTag: string | null, hubTag: string | null): Account => ({
  databaseId: "id",
  bucket: "found",
  main: { tag: mainTag, migration: "v2-hub" },
  hub: { tag: hubTag, migration: "v1" },
  secrets: SECRETS,
});
const before: Account = { ...deployed(null, null), main: { tag: null, migration: "v2" }, hub: null };

describe("a deploy", () => {
  it.each([
    [
      "of a new service makes the hub first, which the main Worker names, and names its jobs last",
      emptyAccount(CONFIG),
      [{ worker: "hub", hasJobs: false }, main(false), NEW_HUB],
    ],
    ["of a service with the hub in the main Worker makes the hub first", before, [NEW_HUB, main(true)]],
    ["leaves a hub alone that has not changed", deployed("main-0", "hub-1"), [main(true)]],
    ["leaves a main Worker alone that has not changed", deployed("main-1", "hub-0"), [NEW_HUB]],
    ["replaces what has changed, or whose secrets have", deployed(null, null), [NEW_HUB, main(true)]],
    ["of what is there changes nothing", deployed("main-1", "hub-1"), []],
  ])("%s", (_, account, steps) => {
    expect(planDeploy(CONFIG, account, QUIET).steps).toEqual(steps);
  });

  it("deploys again what has not changed when it is forced, or when its URL is not known", () => {
    const same = deployed("main-1", "hub-1");
    expect(planDeploy(CONFIG, same, { ...QUIET, isForced: true }).steps).toEqual([NEW_HUB, main(true)]);
    expect(planDeploy(CONFIG, same, { ...QUIET, isUrlKnown: false }).steps).toEqual([main(true)]);
  });

  it("makes one Worker in Cloudflare's builds, with the secrets of the form, unless the hub has its own", () => {
    const build = { ...QUIET, asOneWorker: true };
    const plan = planDeploy(CONFIG, emptyAccount(CONFIG), build);
    expect([plan.steps, plan.secrets]).toEqual([
      [{ worker: "both" }],
      { make: [], ask: [], put: { main: [], hub: [] } },
    ]);
    expect(planDeploy(CONFIG, before, build).steps).toEqual([{ worker: "both" }]);
    expect(planDeploy(CONFIG, deployed("main-0", "hub-1"), build).steps).toEqual([main(true)]);
  });

  it("creates what the account lacks, and deploys without a bucket where there is no R2", () => {
    const { createBucket, createDatabase, hasBucket } = planDeploy(CONFIG, emptyAccount(CONFIG), QUIET);
    expect([createBucket, createDatabase, hasBucket]).toEqual([true, true, true]);
    const noR2 = planDeploy(CONFIG, { ...emptyAccount(CONFIG), bucket: "off" }, QUIET);
    expect([noR2.createBucket, noR2.hasBucket]).toEqual([false, false]);
  });
});

const NONE: string[] = [];
const SCRATCH = { vars: { SCRATCH_BUCKET: "b", SCRATCH_ACCESS_KEY_ID: "a" } };

it.each([
  [
    "a new service: makes its two",
    [CONFIG, NONE, NONE, NONE],
    {
      make: ["MASTER_SECRET", "ADMIN_TOKEN"],
      ask: [],
      put: { main: ["MASTER_SECRET", "ADMIN_TOKEN"], hub: ["MASTER_SECRET"] },
    },
  ],
  [
    "an interrupted deploy: uses those that were made",
    [CONFIG, NONE, NONE, ["MASTER_SECRET", "ADMIN_TOKEN"]],
    { make: [], ask: [], put: { main: ["MASTER_SECRET", "ADMIN_TOKEN"], hub: ["MASTER_SECRET"] } },
  ],
  [
    "an interrupted deploy whose state was lost: gives both Workers another one",
    [CONFIG, NONE, ["MASTER_SECRET"], NONE],
    {
      make: ["MASTER_SECRET", "ADMIN_TOKEN"],
      ask: [],
      put: { main: ["MASTER_SECRET", "ADMIN_TOKEN"], hub: ["MASTER_SECRET"] },
    },
  ],
  [
    "keys of its own: needs no master secret",
    [CONFIG, ["KEY_PEPPER", "SEALING_KEYS", "ADMIN_TOKEN"], ["SEALING_KEYS"], NONE],
    { make: [], ask: [], put: { main: [], hub: [] } },
  ],
  [
    "a hub that lacks the secret of the main Worker: asks for it",
    [CONFIG, SECRETS.main, NONE, NONE],
    { make: [], ask: ["MASTER_SECRET"], put: { main: [], hub: ["MASTER_SECRET"] } },
  ],
  [
    "a scratch bucket: asks for those of its keys that are not in wrangler.toml",
    [SCRATCH, SECRETS.main, SECRETS.hub, NONE],
    { make: [], ask: ["SCRATCH_SECRET_ACCESS_KEY"], put: { main: ["SCRATCH_SECRET_ACCESS_KEY"], hub: [] } },
  ],
] as const)("secrets of %s", (_, [config, ofMain, ofHub, known], plan) => {
  expect(planSecrets(config, { main: ofMain, hub: ofHub }, new Set(known))).toEqual(plan);
});

it("gives each Worker its objects, the other's by name, and what the account has", () => {
  expect(mainConfig(CONFIG, true, RESOURCES)).toMatchObject({
    name: "copra",
    durable_objects: {
      bindings: [
        { name: "JOB", class_name: "JobObject" },
        { name: "HUB", class_name: "NodeHub", script_name: "copra-hub" },
        { name: "ACCOUNT", class_name: "AccountObject" },
      ],
    },
    migrations: [{ tag: "v1" }, { tag: "v2" }, { tag: "v2-hub", deleted_classes: ["NodeHub"] }],
    d1_databases: [{ binding: "DB", database_id: "id-of-database" }],
    r2_buckets: [{ binding: "STORAGE" }],
  });
  // A new service never had the hub in its main Worker.
  expect(mainConfig(CONFIG, false, { ...RESOURCES, hasBucket: false })).toMatchObject({
    migrations: [
      { tag: "v1", new_sqlite_classes: ["JobObject"] },
      { tag: "v2", new_sqlite_classes: ["AccountObject"] },
      { tag: "v2-hub" },
    ],
    r2_buckets: [],
  });
  expect(hubConfig(CONFIG, true)).toMatchObject({
    name: "copra-hub",
    vars: {},
    durable_objects: {
      bindings: [
        { name: "HUB", class_name: "NodeHub" },
        { name: "JOB", class_name: "JobObject", script_name: "copra" },
      ],
    },
    migrations: [{ new_sqlite_classes: ["NodeHub"] }],
  });
});

it.each([
  [["copra.someone.workers.dev", "schedule: */2 * * * *"], "https://copra.someone.workers.dev"],
  [["copra.someone.workers.dev", "encode.example.com (custom domain)"], "https://encode.example.com"],
  [["example.com/* (zone id: 1)"], "https://example.com"],
  [["schedule: */2 * * * *"], null],
])("finds where the service answers in %j", (targets, url) => {
  const lines = [{ type: "wrangler-session" }, { type: "deploy", targets }].map((line) => JSON.stringify(line));
  expect(urlOf(`${lines.join("\n")}\n`)).toBe(url);
});

it("passes on the arguments that are not its own", () => {
  expect(readArguments(["--dry-run", "--minify", "--outdir", "a", "--var", "X:1"])).toEqual({
    ...{ isDry: true, isForced: false, rotation: null, outdir: "a", extra: ["--minify", "--var", "X:1"] },
  });
  expect(readArguments(["--outdir=a", "--force"])).toEqual({
    isDry: false,
    isForced: true,
    rotation: null,
    outdir: "a",
    extra: [],
  });
});
