import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { reservedShareOf, type SettingsVariables, settingsOf } from "./settings.ts";

it.each<[Partial<SettingsVariables>, RegExp]>([
  [{ METRICS_TOKEN: "short" }, /METRICS_TOKEN must have at least 32 characters; create one with: openssl rand/],
  [{ RESERVED_SHARE: "1" }, /RESERVED_SHARE/],
  [{ RESERVED_SHARE: "some" }, /RESERVED_SHARE/],
])("rejects %j, and names the variable", (variables, message) => {
  expect(() => settingsOf({ ...env, ...variables })).toThrow(message);
});

it("has no token for metrics and no reserved slots unless set", () => {
  expect(settingsOf(env).metricsToken).toBeNull();
  expect([reservedShareOf({}), reservedShareOf({ RESERVED_SHARE: "0.25" })]).toEqual([0, 0.25]);
});
