import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileFolder, untilEnd } from "../test/fixtures.ts";
import { COMMANDS } from "./table/commands.ts";
import { failure, startFakeService } from "./testing/fake-service.ts";
import { bareEnvironment, runCli, runProcess, startCli } from "./testing/run-cli.ts";

const JOB = {
  id: "3clA7G2GY8bXR5",
  created_at: "2026-11-21 05:23:27 +0000",
  completed_at: "2026-11-21 05:23:33 +0000",
  status: "job.completed",
  progress: "100%",
  input: { status: "input.transferred" },
  outputs: [{ key: "mp4", type: "video", format: "mp4", status: "video.encoded", url: "https://example.com/a.mp4" }],
};
const FAILED = {
  ...JOB,
  status: "job.failed",
  outputs: [
    { ...JOB.outputs[0], url: undefined, status: "video.failed", error: "No space", error_code: "node_failed" },
  ],
};
const NODES = [
  { id: "fast", pool: "gpu", state: "ready" },
  { id: "kept", pool: "gpu", state: "cordoned" },
  { id: "away", pool: "gpu", state: "gone" },
  { id: "attic", pool: "default", state: "not_ready" },
];
const PROBE = {
  id: "3clA7G2GY8bXR6",
  status: "queued",
  created_at: "2026-11-21 05:23:27 +0000",
  completed_at: null,
  ends_at: null,
  source: "https://example.com/a.mov",
};
const PROBE_DONE = {
  ...PROBE,
  status: "completed",
  completed_at: "2026-11-21 05:23:28 +0000",
  metadata: {
    streams: [
      { index: 0, codec_type: "video", codec_name: "h264", width: 1920, height: 1080, avg_frame_rate: "30000/1001" },
      { index: 1, codec_type: "audio", codec_name: "aac", channels: 2, sample_rate: "48000", tags: { language: "de" } },
    ],
    format: { format_name: "mov,mp4,m4a,3gp,3g2,mj2", duration: "62.5", size: "1500000" },
  },
};
const RUNNING = { ...JOB, status: "job.starting", progress: "40%", completed_at: null };
const stream = (events: readonly [string, unknown][]) => (_: unknown, response: import("node:http").ServerResponse) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const [name, data] of events) response.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
};

const folder = fileFolder();
/** No process gets this port: it is outside the range of ports that the system chooses. */
const CLOSED_URL = "http://127.0.0.1:2";

const service = untilEnd(
  await startFakeService({
    "POST /v2/probes": { status: 202, json: { ...PROBE, status: "running" } },
    [`GET /v2/probes/${PROBE.id}`]: { json: PROBE_DONE },
    "GET /v2/admin/nodes": { json: { nodes: NODES } },
    ...Object.fromEntries(
      NODES.flatMap((node) =>
        ["cordon", "uncordon"].map((verb) => [`POST /v2/admin/nodes/${node.id}/${verb}`, { json: node }]),
      ),
    ),
    "GET /v2/jobs": { json: { jobs: Array.from({ length: 2000 }, () => JOB), next_cursor: null } },
    "POST /v2/jobs": { status: 201, json: RUNNING },
    "GET /v2/jobs/done": { json: JOB },
    "GET /v2/jobs/done/events": stream([
      ["job", RUNNING],
      ["end", JOB],
    ]),
    "GET /v2/jobs/failed": { json: FAILED },
    "GET /v2/jobs/failed/events": stream([["end", FAILED]]),
    "GET /v2/jobs/queued": { json: { ...RUNNING, id: "queued", state: "queued" } },
    "GET /v2/jobs/queued/queue": { json: { job_id: "queued", ahead: 3, starts_in_seconds: 240 } },
    "GET /v2/jobs/old": { json: { ...RUNNING, id: "old", state: "queued" } },
    "GET /v2/jobs/running": { json: RUNNING },
    "GET /v2/jobs/running/events": stream([["job", RUNNING]]),
    [`GET /v2/jobs/${JOB.id}`]: { json: RUNNING },
    [`GET /v2/jobs/${JOB.id}/events`]: stream([["job", RUNNING]]),
    [`DELETE /v2/jobs/${JOB.id}`]: { json: { ...RUNNING, status: "job.aborted" } },
    "GET /v2/jobs/denied": failure(401, "authentication_failed"),
    "GET /v2/jobs/forbidden": failure(403, "upload_not_allowed"),
    "GET /v2/jobs/conflict": failure(409, "job_state_conflict"),
    "GET /v2/jobs/broken": failure(500, "internal_error"),
    "POST /v2/session/links": {
      json: { url: "https://copra.test/dashboard#once=x", expires_at: "2026-11-23T00:00:00Z" },
    },
    "POST /v2/jobs/cancel": { json: { jobs: [{ id: "a", status: "job.aborted" }], has_more: false } },
  }),
);
const env = { ...bareEnvironment(folder), COPRA_URL: service.url, COPRA_API_KEY: "k-test" };

describe("exit codes", () => {
  it.each<[number, string, RegExp]>([
    [0, "jobs show done", /^$/],
    [0, "dashboard", /^$/],
    [0, "--help", /^$/],
    [0, "jobs follow done", /Job 3clA7G2GY8bXR5 is completed/],
    [1, "jobs follow failed", /mp4: No space/],
    [2, "", /Usage: copra/],
    [2, "jobs shwo done", /Did you mean show\?/],
    [2, "jobs show", /missing required argument 'id'/],
    [2, "jobs ls --tag tenant", /--tag must be name=value, not "tenant"/],
    [2, "jobs ls --status done", /--status must be one or more of starting, completed, failed, aborted, not "done"/],
    [2, "jobs follow done --timeout soon", /--timeout must be a time such as 90s/],
    [2, "jobs show conflict", /The reason \(job_state_conflict\)/],
    [2, "jobs cancel", /either the ids of jobs, or a filter/],
    [2, "jobs cancel --status starting", /needs --yes/],
    [2, "encode missing.mov --to mp4", /missing\.mov is not a file/],
    [2, "encode https://example.com/a.mov", /Name the outputs with --to/],
    [2, "accounts", /the environment has no admin token/],
    [3, "jobs show denied", /does not accept the key.*Sign in again with copra login/],
    [3, "jobs show forbidden", /The reason \(upload_not_allowed\)/],
    [4, "jobs show unknown", /The account has no job with this id \(job_not_found\)/],
    [5, "jobs show broken", /The reason \(internal_error/],
    [5, "--url CLOSED --key k-test jobs show done", /No response from http.*: connect ECONNREFUSED/],
    [6, "jobs follow running --timeout 500ms", /copra jobs follow running\n.*did not end within 0\.5 s/s],
  ])("%d: copra %s", async (code, line, stderr) => {
    const words = line.split(" ").map((word) => (word === "CLOSED" ? CLOSED_URL : word));
    const ended = await runCli(line === "" ? [] : words, env);
    expect(ended).toMatchObject({ code, stderr: expect.stringMatching(stderr) });
  });

  it("2: a command without a service", async () => {
    const ended = await runCli(["jobs"], bareEnvironment(folder));
    expect(ended).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/^There is no service to talk to/),
    });
  });

  it.each([
    ["the job goes on", [], /^The job goes on\. To see it again: copra jobs follow 3clA7G2GY8bXR5$/m, 0],
    [
      "the job is canceled if that was asked for",
      ["--cancel-on-interrupt"],
      /^The job 3clA7G2GY8bXR5 is canceled$/m,
      1,
    ],
  ])("130: after Ctrl-C %s", async (_, options, stderr, cancellations) => {
    const before = service.requests.filter(({ method }) => method === "DELETE").length;
    const child = startCli(["encode", "https://example.com/a.mov", "--to", "mp4", ...options], env);
    let words = "";
    child.stderr.on("data", (chunk) => {
      words += chunk;
      if (words.includes("40%") && !child.killed) child.kill("SIGINT");
    });
    await once(child, "close");
    expect([child.exitCode, words]).toEqual([130, expect.stringMatching(stderr)]);
    expect(service.requests.filter(({ method }) => method === "DELETE").length - before).toBe(cancellations);
  });
});

describe("output", () => {
  it("writes data to standard output and messages to standard error", async () => {
    const ended = await runCli(["jobs", "follow", "done"], env);
    expect(ended.stdout).toBe("https://example.com/a.mp4\n");
    expect(ended.stderr).toContain("completed");
  });

  it("prints a JSON document with --json, and a line for each event of a followed job", async () => {
    expect(JSON.parse((await runCli(["jobs", "show", "done", "--json"], env)).stdout)).toEqual(JOB);
    const lines = (await runCli(["jobs", "follow", "done", "--json"], env)).stdout.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { event: "job", data: RUNNING },
      { event: "end", data: JOB },
    ]);
  });

  it("prints the position of a queued job, unless the service lacks the route", async () => {
    expect((await runCli(["jobs", "show", "queued"], env)).stdout).toMatch(
      /queue +3 jobs before it, starts in about 4m 00s/,
    );
    const ofOldService = await runCli(["jobs", "show", "old"], env);
    expect([ofOldService.code, ofOldService.stdout]).toEqual([0, expect.not.stringMatching(/before it/)]);
  });

  it("prints colors only with FORCE_COLOR, without NO_COLOR and without TERM=dumb", async () => {
    const code = "\u001b";
    const colored = await runCli(["jobs", "show", "done"], { ...env, FORCE_COLOR: "1" });
    expect(colored.stdout).toContain(code);
    for (const changes of [{}, { FORCE_COLOR: "1", NO_COLOR: "1" }, { FORCE_COLOR: "1", TERM: "dumb" }]) {
      expect((await runCli(["jobs", "show", "done"], { ...env, ...changes })).stdout).not.toContain(code);
    }
  });

  it("exits with code 0 when the reader closes standard output", async () => {
    const child = startCli(["jobs", "--all"], env);
    child.stdout.once("data", () => child.stdout.destroy());
    let words = "";
    child.stderr.on("data", (chunk) => {
      words += chunk;
    });
    await once(child, "close");
    expect([child.exitCode, words]).toEqual([0, ""]);
  });

  it("replaces control characters in texts of the service", async () => {
    const evil = { ...FAILED, outputs: [{ ...FAILED.outputs[0], error: "a\u001b]0;title\u0007b" }] };
    const other = await startFakeService({
      "GET /v2/jobs/x": { json: evil },
      "GET /v2/jobs/x/events": stream([["end", { ...evil, outputs: [{ ...evil.outputs[0], key: "k\u001b[2J" }] }]]),
      "GET /v2/jobs/y": failure(400, "query_not_valid", "a\u001b]0;title\u0007b"),
    });
    const run = (...args: string[]) => runCli(args, { ...env, COPRA_URL: other.url });
    const results = await Promise.all([run("jobs", "show", "x"), run("jobs", "follow", "x"), run("jobs", "show", "y")]);
    await other.close();
    for (const { stdout, stderr } of results) {
      expect(stdout + stderr).toContain("a�]0;title�b");
      for (const control of ["\u001b", "\u0007"]) expect(stdout + stderr).not.toContain(control);
    }
  });
});

it("lists jobs for `copra jobs` without a second word, also after options", async () => {
  const url = ["--url", service.url, "--key", "k-test"];
  for (const args of [
    ["jobs", "--limit", "1"],
    [...url, "jobs", "--limit", "1"],
    ["jobs", "ls", ...url, "-n", "1"],
  ]) {
    expect((await runCli(args, env)).stdout.split("\n")).toHaveLength(3);
  }
});

it("prints the streams of a source after a node has probed it", async () => {
  const { code, stdout } = await runCli(["probe", PROBE.source, "--queue", "lan"], env);
  expect(code).toBe(0);
  for (const fact of [
    /length +1m 03s \(62\.5 s\)/,
    /size +1\.50 MB/,
    /h264 +1920x1080 29\.97 fps/,
    /aac +2 ch 48000 Hz +de/,
  ]) {
    expect(stdout).toMatch(fact);
  }
  const sent = service.requests.filter(({ path }) => path.startsWith("/v2/probes"));
  expect(sent.map(({ method }) => method)).toEqual(["POST", "GET"]);
  expect(JSON.parse(sent[0]?.body ?? "")).toEqual({ input: { url: PROBE.source }, settings: { queue: "lan" } });
});

it.each([
  ["cordon --pool gpu", ["fast"]],
  ["cordon --all", ["fast", "attic"]],
  ["uncordon --all", ["kept"]],
  ["cordon attic", ["attic"]],
])("changes only nodes whose state differs: %s", async (words, ids) => {
  const before = service.requests.length;
  const { code } = await runCli(["nodes", ...words.split(" ")], { ...env, COPRA_ADMIN_TOKEN: "t-test" });
  const changed = service.requests.slice(before).filter(({ method }) => method === "POST");
  const verb = words.split(" ")[0];
  expect([code, changed.map(({ path }) => path)]).toEqual([0, ids.map((id) => `/v2/admin/nodes/${id}/${verb}`)]);
});

it.each(["nodes cordon", "nodes cordon attic --all", "nodes drain --all --pool gpu"])(
  "rejects %s without a node, --all or --pool",
  async (words) => {
    const { code, stderr } = await runCli(words.split(" "), { ...env, COPRA_ADMIN_TOKEN: "t-test" });
    expect([code, stderr]).toEqual([2, expect.stringContaining("Name a node, or give --all or --pool")]);
  },
);

it("sends the User-Agent copra", async () => {
  await runCli(["jobs", "list"], env);
  expect(service.requests.at(-1)?.headers["user-agent"]).toMatch(/^copra\/\d/);
});

it("changes the jobs that a filter selects", async () => {
  const ended = await runCli(["jobs", "cancel", "--status", "starting", "-q", "inbox", "--yes", "--json"], env);
  expect(JSON.parse(ended.stdout)).toEqual({ jobs: [{ id: "a", status: "job.aborted" }] });
  const [sent] = service.requests.filter(({ path }) => path === "/v2/jobs/cancel").slice(-1);
  expect(JSON.parse(sent?.body ?? "")).toEqual({ filter: { status: "job.starting", q: "inbox" }, limit: 100 });
});

it("sends a job from a file or from standard input", async () => {
  const job = {
    input: { url: "https://example.com/a.mov" },
    storage: { service: "coconut" },
    outputs: { mp4: { path: "a.mp4" } },
  };
  writeFileSync(join(folder, "job.json"), JSON.stringify(job));
  for (const [file, input] of [
    [join(folder, "job.json"), ""],
    ["-", JSON.stringify(job)],
  ] as const) {
    const ended = await runProcess(["encode", "-f", file, "--no-wait"], env, input);
    expect(ended).toMatchObject({ code: 0, stdout: `${JOB.id}\n` });
    const [sent] = service.requests.filter(({ method }) => method === "POST").slice(-1);
    expect(JSON.parse(sent?.body ?? "")).toEqual({ ...job, notification: { type: "none" } });
  }
});

it("describes every command and option", async () => {
  for (const { name, options = [], summary } of COMMANDS) {
    expect([name, summary]).toEqual([name, expect.stringMatching(/^[A-Z].*[^.]$/)]);
    for (const { flags, description } of options)
      expect([name, flags, description]).toEqual([name, flags, expect.stringMatching(/.{8}/)]);
  }
});
