import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { type SettingsVariables, settingsOf } from "./settings.ts";

it.each<[Partial<SettingsVariables>, RegExp]>([
  [{ METRICS_TOKEN: "short" }, /METRICS_TOKEN must have at least 32 characters; create it with: openssl rand/],
  [{ MASTER_SECRET: "short" }, /MASTER_SECRET: each of the secrets/],
  [{ SEALING_KEYS: " " }, /MASTER_SECRET must be set/],
])("rejects %j, and names the variable", (variables, message) => {
  expect(() => settingsOf({ ...env, ...variables })).toThrow(message);
});

it("has no metrics token unless METRICS_TOKEN is set", () => {
  expect(settingsOf(env).metricsToken).toBeNull();
});

it("derives a key from a master secret, and puts it before other sealing keys", () => {
  const { SEALING_KEYS: _keys, ...others } = { ...env, MASTER_SECRET: "m".repeat(32) };
  const { sealingKeys } = settingsOf(others);
  expect(sealingKeys).toHaveLength(1);
  const both = settingsOf({ ...env, MASTER_SECRET: "m".repeat(32) });
  expect(both.sealingKeys).toEqual([...sealingKeys, ...settingsOf(env).sealingKeys]);
});
