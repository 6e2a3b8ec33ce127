import { expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { startFakeService } from "../testing/fake-service.ts";
import { bareEnvironment, runCli } from "../testing/run-cli.ts";

const folder = fileFolder();

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

/** Runs `jobs cancel` on a fake service. `answers`: a status and a body for each batch. */
async function cancelWith(answers: readonly (readonly [number, object])[]) {
  let at = 0;
  const other = await startFakeService({
    "POST /v2/jobs/cancel": (_, response) => {
      const [status, body] = answers[at++] ?? [500, {}];
      response.writeHead(status, { "content-type": "application/json", "retry-after": "0" }).end(JSON.stringify(body));
    },
  });
  const env = { ...bareEnvironment(folder), COPRA_URL: other.url, COPRA_API_KEY: "k-test" };
  const ended = await runCli(["jobs", "cancel", "--status", "starting", "--yes", "--json"], env);
  await other.close();
  return { ...ended, requests: other.requests.length };
}

const FIRST = { jobs: [{ id: "a", status: "job.aborted" }], has_more: true, next_cursor: "1-a" };
const LAST = { jobs: [{ id: "b", status: "job.aborted" }], has_more: false, next_cursor: null };

it("prints the changed jobs and the failure when a later batch fails", async () => {
  const failure = { status: "error", error_code: "rate", message: "No more today" };
  const { code, stdout, stderr } = await cancelWith([
    [200, FIRST],
    [403, failure],
  ]);
  expect(JSON.parse(stdout).jobs).toMatchObject(FIRST.jobs);
  expect([code, stderr]).toEqual([3, expect.stringContaining("No more today")]);
});

it("repeats a cancellation while the service is not available", async () => {
  const failure = { status: "error", error_code: "service_unavailable", message: "Starting" };
  const { code, stdout, requests } = await cancelWith([
    [200, FIRST],
    [503, failure],
    [200, LAST],
  ]);
  expect(JSON.parse(stdout).jobs.map(({ id }: { id: string }) => id)).toEqual(["a", "b"]);
  expect([code, requests]).toEqual([0, 3]);
});

it("finds and changes jobs by their tags, and shows the tags and the usage of their values", async () => {
  const total = {
    jobs: { completed: 1, failed: 0, cancelled: 0 },
    output_seconds: { audio: 1, sd: 2, hd: 3, uhd: 4 },
    node_seconds: 60,
    stored_bytes: 5000,
  };
  const job = {
    id: "a",
    created_at: "2026-11-22 12:00:00 +0000",
    completed_at: null,
    ends_at: null,
    status: "job.starting",
    progress: "0%",
    input: { status: "input.starting", source: "https://example.com/a.mp4" },
    outputs: [],
    tags: { a: "", b: "x y" },
  };
  const other = await startFakeService({
    "GET /v2/jobs": { json: { jobs: [job], next_cursor: null } },
    "POST /v2/jobs/cancel": { json: LAST },
    "GET /v2/usage": { json: { from: "", to: "", days: [], total, values: [{ value: "x y", ...total }] } },
  });
  const env = { ...bareEnvironment(folder), COPRA_URL: other.url, COPRA_API_KEY: "k-test" };
  const tags = ["--tag", "a=", "--tag", "b=x y"];
  const list = await runCli(["jobs", "ls", ...tags], env);
  await runCli(["jobs", "cancel", ...tags, "--yes"], env);
  const usage = await runCli(["usage", "--by", "tag.b"], env);
  await other.close();
  expect([list.stdout, usage.stdout]).toEqual([
    expect.stringContaining("a= b=x y"),
    expect.stringMatching(/^x y +1 +1s +2s +3s +4s +1m 00s +5\.00 kB$/m),
  ]);
  expect(other.requests.map(({ path, body }) => `${path} ${body}`)).toEqual([
    "/v2/jobs?limit=21&tag.a=&tag.b=x+y ",
    `/v2/jobs/cancel ${JSON.stringify({ filter: { tags: { a: "", b: "x y" } }, limit: 100 })}`,
    "/v2/usage?by=tag.b ",
  ]);
});
