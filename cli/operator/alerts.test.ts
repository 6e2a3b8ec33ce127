import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { startFakeService } from "../testing/fake-service.ts";
import { bareEnvironment, runCli } from "../testing/run-cli.ts";

const folder = fileFolder();

it("sets, lists, tests and deletes alerts", async () => {
  const rule = { when: "disk.low", free_bytes: 5, to: { type: "slack", url: "https://hooks.slack.com/x" } };
  const file = join(folder, "alert.json");
  writeFileSync(file, JSON.stringify(rule));
  const to = { type: "slack", receiver: "hooks.slack.com" };
  const state = { firing: ["Node a/b: 0.0 GB free"], last_sent_at: null, last_error: "HTTP 503" };
  const alert = { ...rule, name: "full", to, ...state };
  const refusing = { delivered: false, status: 503, seconds: 1 };
  const service = await startFakeService({
    "GET /v2/admin/alerts": { json: { alerts: [alert] } },
    "PUT /v2/admin/alerts/full": { json: alert },
    "POST /v2/admin/alerts/full/test": { json: refusing },
    "DELETE /v2/admin/alerts/full": { json: alert },
  });
  const env = { ...bareEnvironment(folder), COPRA_URL: service.url, COPRA_ADMIN_TOKEN: "t".repeat(32) };
  const run = (...words: string[]) => runCli(["alerts", ...words], env);
  expect((await run("set", "full", file)).stdout).toBe("full: disk.low\n");
  expect(JSON.parse(service.requests[0]?.body ?? "")).toEqual(rule);
  const listed = (await run("ls")).stdout;
  expect(listed).toMatch(/full +disk\.low +slack hooks\.slack\.com +never +HTTP 503/);
  expect(listed).toContain("full: Node a/b: 0.0 GB free");
  expect(await run("test", "full")).toMatchObject({ code: 1, stdout: "HTTP 503\n" });
  expect((await run("rm", "full")).stdout).toBe("full\n");
  await service.close();
});
