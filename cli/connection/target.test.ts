import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { emptiedFolder } from "../../test/fixtures.ts";
import { configPath, readConfig, withoutProfile, withProfile, writeConfig } from "./config-file.ts";
import { folderOf } from "./folders.ts";
import { findTarget, serviceUrl, type TargetOptions } from "./target.ts";

const folder = emptiedFolder();
let env: Record<string, string>;

const STACK = {
  api: "http://127.0.0.1:8787/v2",
  apiKey: "k-local",
  adminToken: "a-local",
  s3: { endpoint: "http://127.0.0.1:9000", region: "r", bucket: "b", accessKeyId: "i", secretAccessKey: "s" },
};

beforeEach(() => {
  env = { COPRA_HOME: join(folder, "home"), XDG_CONFIG_HOME: join(folder, "config"), HOME: folder };
});

const VARIABLES = { COPRA_URL: "https://env.example.com", COPRA_API_KEY: "k-env" };
const OPTIONS = { url: "https://option.example.com/v2/", key: "k-option" };

it.each<[string, TargetOptions, object, { profile?: true; local?: true }, object | RegExp]>([
  [
    "options",
    OPTIONS,
    VARIABLES,
    { profile: true, local: true },
    { url: "https://option.example.com", key: "k-option" },
  ],
  ["the environment", {}, VARIABLES, { profile: true, local: true }, { url: "https://env.example.com", key: "k-env" }],
  ["a named profile", { profile: "eu" }, VARIABLES, { profile: true }, { url: "https://eu.example.com", key: "k-eu" }],
  ["the profile of COPRA_PROFILE", {}, { COPRA_PROFILE: "eu" }, { profile: true, local: true }, { key: "k-eu" }],
  ["the current profile", {}, {}, { profile: true, local: true }, { key: "k-eu", source: 'profile "eu"' }],
  [
    "the local system",
    {},
    {},
    { local: true },
    { url: "http://127.0.0.1:8787", key: "k-local", adminToken: "a-local" },
  ],
  ["options for the URL alone", { url: "https://x.example.com" }, {}, { profile: true, local: true }, { key: null }],
  [
    "options, without credentials that the environment has for another service",
    { url: "https://option.example.com" },
    { ...VARIABLES, COPRA_ADMIN_TOKEN: "a-env" },
    {},
    { url: "https://option.example.com", key: null, adminToken: null },
  ],
  [
    "options, without the environment's token for the operator of another service",
    OPTIONS,
    { ...VARIABLES, COPRA_ADMIN_TOKEN: "a-env" },
    {},
    { key: "k-option", adminToken: null },
  ],
  [
    "options, without credentials for the same host over another protocol",
    { url: "http://env.example.com" },
    VARIABLES,
    {},
    { key: null },
  ],
  [
    "options, with the environment's credentials for the same service",
    { url: "ENV.example.com:443/v2/" },
    { ...VARIABLES, COPRA_ADMIN_TOKEN: "a-env" },
    {},
    { key: "k-env", adminToken: "a-env" },
  ],
  [
    "options, with the environment's credentials for no service in particular",
    { url: "https://option.example.com" },
    { COPRA_API_KEY: "k-env" },
    { profile: true },
    { url: "https://option.example.com", key: "k-env" },
  ],
  [
    "the environment, with a key of the command line",
    { key: "k-option" },
    { ...VARIABLES, COPRA_ADMIN_TOKEN: "a-env" },
    {},
    { url: "https://env.example.com", key: "k-option", adminToken: "a-env" },
  ],
  [
    "a named profile, with a key of the command line",
    { profile: "eu", key: "k-option" },
    { ...VARIABLES, COPRA_ADMIN_TOKEN: "a-env" },
    { profile: true },
    { url: "https://eu.example.com", key: "k-option", adminToken: null },
  ],
  ["nothing", {}, {}, {}, /^There is no service to talk to.* set COPRA_HOME to its folder: none runs in .*home$/],
  ["a key without a URL", { key: "k-option" }, {}, { profile: true }, /no URL/],
  ["an unknown profile", { profile: "us" }, {}, { profile: true }, /^There is no profile "us"; there are: eu$/],
  ["a URL that is none", { url: "https://" }, {}, {}, /is not the URL of a service/],
])("takes the target from %s", (_, options, variables, { profile, local }, expected) => {
  const environment = { ...env, ...variables };
  if (profile) writeConfig(env, { current: "eu", profiles: { eu: { url: "https://eu.example.com", key: "k-eu" } } });
  if (local) {
    mkdirSync(join(folder, "home"));
    writeFileSync(join(folder, "home", "stack.json"), JSON.stringify(STACK));
  }
  if (expected instanceof RegExp) expect(() => findTarget(options, environment)).toThrow(expected);
  else expect(findTarget(options, environment)).toMatchObject(expected);
});

it.each([
  ["encode.example.com", "https://encode.example.com"],
  ["localhost:8787", "http://localhost:8787"],
  ["127.0.0.1:8787/v2", "http://127.0.0.1:8787"],
  ["https://example.com/copra/v2/", "https://example.com/copra"],
])("understands %s as the service %s", (text, url) => expect(serviceUrl(text)).toBe(url));

it("stores profiles in files that only their owner can read", () => {
  writeConfig(env, withProfile(readConfig(env), "eu", { url: "https://eu.example.com", key: "k-eu" }));
  writeConfig(env, withProfile(readConfig(env), "us", { url: "https://us.example.com" }));
  expect(statSync(configPath(env)).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, "config", "copra")).mode & 0o777).toBe(0o700);
  const { current, profiles } = withoutProfile(readConfig(env), "us");
  expect([current, Object.keys(profiles)]).toEqual(["eu", ["eu"]]);
});

it("names a damaged file", () => {
  writeConfig(env, { current: null, profiles: {} });
  writeFileSync(configPath(env), "{");
  expect(() => readConfig(env)).toThrow(`${configPath(env)} is damaged`);
});

it("keeps its files in the standard folders of each operating system", () => {
  expect(folderOf("config", { HOME: "/home/me" }, "linux")).toBe("/home/me/.config/copra");
  expect(folderOf("state", { HOME: "/home/me" }, "darwin")).toBe("/home/me/.local/state/copra");
  expect(folderOf("state", { XDG_STATE_HOME: "/state" }, "linux")).toBe("/state/copra");
  expect(folderOf("config", { APPDATA: "C:\\Roaming" }, "win32")).toContain("C:\\Roaming");
});
