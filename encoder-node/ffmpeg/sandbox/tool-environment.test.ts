import { afterEach, expect, it, vi } from "vitest";
import { toolEnvironment } from "./tool-environment.ts";

afterEach(() => vi.unstubAllEnvs());

it("passes the listed variables and no others", () => {
  const secrets = [
    "COPRA_NODE_TOKEN",
    "AWS_PROFILE",
    "DATABASE_URL",
    "PGPASSFILE",
    "MYSQL_PWD",
    "GITHUB_PAT",
    "https_proxy",
  ];
  for (const name of [...secrets, "KEYBOARD", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"]) vi.stubEnv(name, "x");
  vi.stubEnv("HOME", "/home/operator");
  const env = toolEnvironment("/work/run-1");
  expect(Object.keys(env).filter((name) => [...secrets, "KEYBOARD"].includes(name))).toEqual([]);
  expect(env).toMatchObject({ LD_LIBRARY_PATH: "x", CUDA_VISIBLE_DEVICES: "x", PATH: process.env.PATH });
  expect(env).toMatchObject({ HOME: "/nonexistent", TMPDIR: "/work/run-1" });
  expect(toolEnvironment().TMPDIR).toBe("/nonexistent");
});
