import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { startFakeService } from "../testing/fake-service.ts";
import { bareEnvironment, runCli } from "../testing/run-cli.ts";

const folder = fileFolder();

const LINK = {
  id: "Qm4vT1xYc8ZpB6kWs0Hd",
  status: "completed",
  max_size: 5e9,
  expires_at: "2026-11-22T11:00:00.000Z",
  last_refused_origin: "https://www.example.com",
  url: "https://copra.example.com/v2/links/t",
  tus_url: "https://copra.example.com/v2/links/t/tus",
  upload: { id: "u", name: "a.mov", size: 4 },
  job: null,
  job_error: { error_code: "input_not_valid", message: "`input.upload`: the upload was removed" },
};

it("creates, lists, shows and revokes upload links", async () => {
  const job = { storage: { service: "coconut" }, outputs: { mp4: { path: "a.mp4" } } };
  const file = join(folder, "job.json");
  writeFileSync(file, JSON.stringify(job));
  const respond = (_: unknown, response: import("node:http").ServerResponse) =>
    void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(LINK));
  const service = await startFakeService({
    "POST /v2/upload-links": respond,
    "GET /v2/upload-links": (_, response) =>
      void response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ upload_links: [LINK], next_cursor: null })),
    "GET /v2/upload-links/l": respond,
    "DELETE /v2/upload-links/l": respond,
    "DELETE /v2/upload-links/m": respond,
  });
  const env = { ...bareEnvironment(folder), COPRA_URL: service.url, COPRA_API_KEY: "k-test" };
  const origin = "https://app.example.com";
  const options = [
    ...`--max-size 5GB --expires 2h --origin ${origin} --name a.mov --tag order=7 --job`.split(" "),
    file,
  ];
  const created = await runCli(["upload-links", "create", ...options, "--webhook", "https://x.example/h"], env);
  expect(created.stdout).toContain(LINK.tus_url);
  const result = await runCli(["upload-links", "show", "l"], env);
  expect(result.stdout).toMatch(
    /refused origin +https:\/\/www\.example\.com\nupload +u a\.mov.*\n.*the upload was removed/,
  );
  const listed = await runCli(["upload-links", "ls"], env);
  expect(listed.stdout).toMatch(/^LINK .*\n.*Qm4vT1xYc8ZpB6kWs0Hd +completed +5\.00 GB .* a\.mov/m);
  const revoked = await runCli(["upload-links", "rm", "l", "m", "--json"], env);
  expect(JSON.parse(revoked.stdout)).toEqual({ revoked: ["l", "m"] });
  await service.close();
  expect(JSON.parse(service.requests[0]?.body ?? "")).toEqual({
    max_size: 5e9,
    expires_s: 7200,
    origins: [origin],
    name: "a.mov",
    tags: { order: "7" },
    job,
    notification: { type: "http", url: "https://x.example/h" },
  });
});

it.each([
  [["--max-size", "much"], "--max-size must be a size such as 500MB"],
  [[], "--max-size must be a size"],
  [["--max-size", "1", "--job", "missing.json"], "There is no file missing.json"],
])("rejects the options %j", async (options, message) => {
  const env = { ...bareEnvironment(folder), COPRA_URL: "http://127.0.0.1:9", COPRA_API_KEY: "k-test" };
  const ended = await runCli(["upload-links", "create", ...options], env);
  expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining(message)]);
});
