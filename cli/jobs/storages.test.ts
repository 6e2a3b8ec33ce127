import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { startFakeService } from "../testing/fake-service.ts";
import { bareEnvironment, runCli } from "../testing/run-cli.ts";

const folder = fileFolder();

const SUMMARY = { name: "main", created_at: "2026-11-21 05:23:27 +0000" };
const STORED = { ...SUMMARY, storage: { service: "s3", bucket: "b" }, left_out: ["storage.credentials"] };
const steps = [
  { step: "store", status: "passed" },
  { step: "web", status: "failed", error: "The bucket has no CORS rule", error_code: "storage_denied" },
];

it("saves, lists, shows, tests and deletes storages", async () => {
  const service = await startFakeService({
    "GET /v2/storages": { json: { storages: [SUMMARY] } },
    "GET /v2/storages/main": { json: STORED },
    "PUT /v2/storages/main": { json: STORED },
    "DELETE /v2/storages/main": { json: STORED },
    "POST /v2/storages/main/test": { json: { steps } },
  });
  const file = join(folder, "bucket.json");
  writeFileSync(file, JSON.stringify(STORED.storage));
  const env = { ...bareEnvironment(folder), COPRA_URL: service.url, COPRA_API_KEY: "k-test" };
  const run = (...argv: string[]) => runCli(["storages", ...argv], env);
  expect(await run("put", "main", file)).toMatchObject({ code: 0, stdout: "main\n" });
  expect(await run("ls")).toMatchObject({ code: 0, stdout: expect.stringMatching(/main +2026-11-21/) });
  expect(JSON.parse((await run("show", "main")).stdout)).toEqual(STORED.storage);
  expect(await run("test", "main")).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/store +passed\s+web +failed +The bucket has no CORS rule/),
  });
  expect(await run("rm", "main")).toMatchObject({ code: 0, stdout: "main\n" });
});
