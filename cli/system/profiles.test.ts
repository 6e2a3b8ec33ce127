import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileFolder, untilEnd } from "../../test/fixtures.ts";
import { startFakeService } from "../testing/fake-service.ts";
import { bareEnvironment, runCli } from "../testing/run-cli.ts";

const folder = fileFolder();
const service = untilEnd(await startFakeService({ "GET /v2/jobs": { json: { jobs: [], next_cursor: null } } }));

describe("copra login", () => {
  const keysOf = async (args: readonly string[], variables: Record<string, string>, input = "") => {
    const before = service.requests.length;
    const profileEnv = { ...bareEnvironment(join(folder, "login")), ...variables };
    expect(await runCli(["login", service.url, ...args], profileEnv, input)).toMatchObject({ code: 0 });
    return service.requests.slice(before).map(({ headers }) => headers.authorization);
  };
  const basic = (key: string) => `Basic ${Buffer.from(`${key}:`).toString("base64")}`;
  const elsewhere = { COPRA_URL: "https://elsewhere.example.com", COPRA_API_KEY: "k-env", COPRA_ADMIN_TOKEN: "a-env" };

  it.each<[string, string[], Record<string, string>, string, string]>([
    ["asks for a key that the environment has for another service", [], elsewhere, "k-asked\n", "k-asked"],
    ["uses the option", ["--key", "k-option"], elsewhere, "", "k-option"],
    ["uses the environment's key for no service in particular", [], { COPRA_API_KEY: "k-env" }, "", "k-env"],
  ])("%s", async (_, args, variables, input, key) => {
    expect(await keysOf(args, variables, input)).toEqual([basic(key)]);
  });
});
