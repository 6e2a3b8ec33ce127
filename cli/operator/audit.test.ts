import { expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { startFakeService } from "../testing/fake-service.ts";
import { bareEnvironment, runCli } from "../testing/run-cli.ts";

const folder = fileFolder();

it("lists the changes of the key's account, or of all accounts, and names the next page", async () => {
  const entry = {
    id: "V7pQ2mXc0LrT9d",
    created_at: "2026-11-21 05:23:33 +0000",
    account: "Q2hhbmdlTWVOb3",
    actor: "9f86d081884c",
    actor_name: "reports",
    ip: "203.0.113.7",
    action: "putTemplate",
    object: "templates/web",
    status: 200,
  };
  const byOperator = { ...entry, actor: "operator", actor_name: null, ip: null, action: "reseal", account: null };
  const service = await startFakeService({
    "GET /v2/audit": { json: { entries: [entry], next_cursor: "5-V7pQ2mXc0LrT9d" } },
    "GET /v2/admin/audit": { json: { entries: [byOperator], next_cursor: null } },
  });
  const env = { ...bareEnvironment(folder), COPRA_URL: service.url };
  const ofAccount = await runCli(["audit", "--object", "templates", "-n", "1"], { ...env, COPRA_API_KEY: "k-test" });
  expect(ofAccount.stdout).toMatch(/\+0000 +reports +203\.0\.113\.7 +putTemplate +templates\/web +200 +Q2hhbmdlTWVOb3/);
  expect(ofAccount.stderr).toContain("More: --cursor 5-V7pQ2mXc0LrT9d");
  expect(service.requests[0]?.path).toBe("/v2/audit?object=templates&limit=1");
  const all = await runCli(["audit", "--all-accounts", "--json"], { ...env, COPRA_ADMIN_TOKEN: "t".repeat(32) });
  expect(JSON.parse(all.stdout)).toEqual({ entries: [byOperator], next_cursor: null });
  await service.close();
});
