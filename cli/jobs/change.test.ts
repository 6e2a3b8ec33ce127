import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startFakeService } from "../testing/fake-service.ts";
import { bareEnvironment, runCli } from "../testing/run-cli.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "copra-cli-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

it("changes each job that a filter selects once, although batches in between are empty", async () => {
  const batches = [
    { jobs: [{ id: "c", status: "job.starting" }], has_more: true, next_cursor: "3-c" },
    { jobs: [], has_more: true, next_cursor: "2-b" },
    { jobs: [{ id: "a", status: "job.starting" }], has_more: false, next_cursor: null },
  ];
  const other = await startFakeService({
    "POST /v2/jobs/retry": ({ body }, response) => {
      const at = [undefined, "3-c", "2-b"].indexOf(JSON.parse(body).cursor);
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(batches[at]));
    },
  });
  const ended = await runCli(["jobs", "retry", "-q", "inbox", "--yes", "--json"], {
    ...bareEnvironment(folder),
    COPRA_URL: other.url,
    COPRA_API_KEY: "k-test",
  });
  await other.close();
  expect(JSON.parse(ended.stdout).jobs.map(({ id }: { id: string }) => id)).toEqual(["c", "a"]);
  expect(other.requests).toHaveLength(3);
});
