import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { failure, startFakeService } from "../testing/fake-service.ts";
import { bareEnvironment, runCli } from "../testing/run-cli.ts";

const folder = fileFolder();

const SUMMARY = { name: "web", version: 3, created_at: "2026-11-21 05:23:27 +0000" };
const TOKEN = { id: "t1", created_at: SUMMARY.created_at };
const STORED = {
  ...SUMMARY,
  template: { storage: { service: "s3", bucket: "b" } },
  variables: ["id"],
  left_out: ["storage.credentials"],
  versions: [3],
};

it("lists, shows, stores and deletes templates and their tokens", async () => {
  const service = await startFakeService({
    "GET /v2/templates": { json: { templates: [SUMMARY] } },
    "GET /v2/templates/web": { json: STORED },
    "PUT /v2/templates/web": { json: STORED },
    "DELETE /v2/templates/web": { json: SUMMARY },
    "POST /v2/templates/web/tokens": { json: { ...TOKEN, url: "https://copra.test/v2/ingest/web/t" } },
    "GET /v2/templates/web/tokens": { json: { tokens: [TOKEN] } },
    "DELETE /v2/templates/web/tokens/t1": { json: { id: "t1", revoked: true } },
    "PUT /v2/templates/other": failure(412, "precondition_failed"),
  });
  const file = join(folder, "web.json");
  writeFileSync(file, JSON.stringify(STORED.template));
  const env = { ...bareEnvironment(folder), COPRA_URL: service.url, COPRA_API_KEY: "k-test" };
  const run = (...argv: string[]) => runCli(["templates", ...argv], env);
  expect(await run("ls")).toMatchObject({ code: 0, stdout: expect.stringMatching(/web +3 +2026-11-21/) });
  const result = await run("show", "web");
  expect(JSON.parse(result.stdout)).toEqual(STORED.template);
  expect(result.stderr).toMatch(/web@3; variables: id\n.*storage.credentials/s);
  expect(await run("put", "web", file, "--keep-secrets", "--if-version", "2")).toMatchObject({ stdout: "web@3\n" });
  expect(await run("put", "other", file, "--if-version", "0")).toMatchObject({ code: 2 });
  expect(await run("put", "web", file, "--if-version", "new")).toMatchObject({ code: 2 });
  expect(await run("token", "web")).toMatchObject({ code: 0, stdout: "https://copra.test/v2/ingest/web/t\n" });
  expect(await run("tokens", "web")).toMatchObject({ stdout: expect.stringMatching(/t1 +2026-11-21/) });
  expect(await run("revoke", "web", "t1")).toMatchObject({ code: 0, stdout: "t1\n" });
  expect(await run("rm", "web")).toMatchObject({ code: 0, stdout: "web\n" });
  await service.close();
  const puts = service.requests.filter(({ method }) => method === "PUT");
  expect(puts.map(({ path, headers, body }) => [path, headers["if-match"], headers["if-none-match"], body])).toEqual([
    ["/v2/templates/web?keep_secrets=true", '"2"', undefined, JSON.stringify(STORED.template)],
    ["/v2/templates/other", undefined, "*", JSON.stringify(STORED.template)],
  ]);
});
