import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { type SettingsVariables, settingsOf } from "./settings.ts";

it.each<[Partial<SettingsVariables>, RegExp]>([
  [{ METRICS_TOKEN: "short" }, /METRICS_TOKEN must have at least 32 characters; create it with: openssl rand/],
  [{ MASTER_SECRET: "short" }, /MASTER_SECRET: each of the secrets/],
  [{ KEY_PEPPER: "" }, /MASTER_SECRET or KEY_PEPPER must be set/],
  [{ SEALING_KEYS: " " }, /MASTER_SECRET or SEALING_KEYS must be set/],
])("rejects %j, and names the variable", (variables, message) => {
  expect(() => settingsOf({ ...env, ...variables })).toThrow(message);
});

it("has no metrics token unless METRICS_TOKEN is set", () => {
  expect(settingsOf(env).metricsToken).toBeNull();
});

it("derives keys from a master secret, and puts them before other peppers and sealing keys", () => {
  const { KEY_PEPPER: _pepper, SEALING_KEYS: _keys, ...others } = { ...env, MASTER_SECRET: "m".repeat(32) };
  const { peppers, sealingKeys } = settingsOf(others);
  expect([peppers.length, sealingKeys.length]).toEqual([1, 1]);
  const both = settingsOf({ ...env, MASTER_SECRET: "m".repeat(32) });
  expect(both.peppers).toEqual([...peppers, ...settingsOf(env).peppers]);
  expect(both.sealingKeys).toEqual([...sealingKeys, ...settingsOf(env).sealingKeys]);
});
