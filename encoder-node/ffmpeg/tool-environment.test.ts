import { afterEach, expect, it, vi } from "vitest";
import { toolEnvironment } from "./tool-environment.ts";

afterEach(() => vi.unstubAllEnvs());

it("holds no secrets", () => {
  const secrets = ["COPRA_NODE_TOKEN", "AWS_PROFILE", "GITHUB_TOKEN", "CLIENT_SECRET_ID", "DB_PASSWORD", "API_KEY"];
  for (const name of [...secrets, "LD_LIBRARY_PATH", "KEYBOARD"]) vi.stubEnv(name, "x");
  const names = Object.keys(toolEnvironment());
  expect(names.filter((name) => secrets.includes(name))).toEqual([]);
  expect(names).toEqual(expect.arrayContaining(["LD_LIBRARY_PATH", "KEYBOARD", "PATH"]));
});
