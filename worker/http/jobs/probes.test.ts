import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { jobOf } from "../../rpc/job.ts";
import { basic, jobBody, newAccount, operator, PROBE, SECRET_KEY, send, useAccount } from "../../testing/jobs.ts";
import { rewriteState } from "../../testing/stored-state.ts";
import { claimFrom } from "../../testing/turns.ts";

const account = useAccount();
const ask = (method: string, path: string, body?: unknown, key = account.key) =>
  send(`/v2${path}`, { method, body, headers: basic(key) });

const SOURCE = { url: `https://user:${SECRET_KEY}@media.example.com/video.mp4?token=${SECRET_KEY}` };

const newProbe = async (body: object = { input: SOURCE }): Promise<string> =>
  (await ask("POST", "/probes", body)).body.id;

async function inspecting(id: string, queue = "default") {
  const request = { nodeId: "node-a", session: "s-a", slotClass: "inspect", max: 1 } as const;
  const [assignment] = await claimFrom(jobOf(env, id), request);
  if (!assignment) throw new Error(`Nothing to inspect in ${queue}`);
  return assignment;
}

async function completed(id: string): Promise<void> {
  const { lease, token } = await inspecting(id);
  await jobOf(env, id).complete(lease, { token, result: { kind: "inspect", probe: PROBE } });
}

describe("a probe", () => {
  it("queues a probe, lets a node read only the needed part of the source, and returns the node's facts", async () => {
    const created = await ask("POST", "/probes", { input: SOURCE });
    const { id } = created.body;
    const source = "https://media.example.com/video.mp4";
    expect(created).toMatchObject({ status: 202, body: { status: "queued", completed_at: null, source } });
    const { lease, token, task } = await inspecting(id);
    expect(task).toMatchObject({ kind: "inspect", sourceUrl: SOURCE.url, onlyProbe: true });
    expect((await ask("GET", `/probes/${id}`)).body).toMatchObject({ id, status: "running" });
    await jobOf(env, id).complete(lease, { token, result: { kind: "inspect", probe: PROBE } });
    const { status, body } = await ask("GET", `/probes/${id}`);
    expect([status, body.status]).toEqual([200, "completed"]);
    expect(body.metadata).toMatchObject({ streams: PROBE.streams, format: { filename: source } });
    expect(JSON.stringify(body)).not.toContain(SECRET_KEY);
  });

  it("responds as soon as the probe has ended, if the client waits", async () => {
    const id = await newProbe();
    const waiting = ask("GET", `/probes/${id}?wait=30`);
    await completed(id);
    expect((await waiting).body).toMatchObject({ status: "completed" });
  });

  it("returns why the source cannot be read", async () => {
    const id = await newProbe();
    const { lease, token } = await inspecting(id);
    const failure = { code: "input_not_media", message: "This is a text file" } as const;
    await jobOf(env, id).fail(lease, { token, failure });
    const failed = { status: "failed", error: failure.message, error_code: failure.code };
    expect((await ask("GET", `/probes/${id}`)).body).toMatchObject(failed);
  });

  it("queues a probe again after a node returned it", async () => {
    const id = await newProbe();
    const { lease, token } = await inspecting(id);
    await jobOf(env, id).fail(lease, { token, failure: { code: "node_lost", message: "Shutting down" } });
    expect((await ask("GET", `/probes/${id}`)).body).toMatchObject({ status: "queued", completed_at: null });
  });

  it("counts an unfinished probe as an unfinished job of its account", async () => {
    const { id: accountId, key } = await newAccount();
    const limits = { max_unfinished_jobs: 2 };
    await operator.post(`/v2/admin/accounts/${accountId}/limits`, limits);
    const started = await Promise.all(Array.from({ length: 5 }, () => ask("POST", "/probes", { input: SOURCE }, key)));
    const admitted = started.filter(({ status }) => status === 202).map(({ body }): string => body.id);
    expect(admitted.length).toBe(2);
    const refused = started.filter(({ status }) => status !== 202).map(({ body }) => body.error_code);
    expect(refused).toEqual(Array.from({ length: 3 }, () => "too_many_jobs"));
    expect((await ask("POST", "/jobs", jobBody(), key)).body.error_code).toBe("too_many_jobs");
    await completed(admitted[0] ?? "");
    await runDurableObjectAlarm(jobOf(env, admitted[0] ?? ""));
    expect((await ask("POST", "/jobs", jobBody(), key)).status).toBe(201);
    expect((await ask("POST", "/probes", { input: SOURCE }, key)).body.error_code).toBe("too_many_jobs");
  });

  it("keeps a probe out of the lists and the routes of jobs", async () => {
    const id = await newProbe();
    await completed(id);
    expect((await ask("GET", "/jobs")).body.jobs.filter((job: { id: string }) => job.id === id)).toEqual([]);
    expect((await ask("GET", `/jobs/${id}`)).body.error_code).toBe("job_not_found");
    expect((await ask("POST", `/jobs/${id}/retry`)).body.error_code).toBe("job_not_found");
    expect((await ask("GET", `/metadata/jobs/${id}`)).body.error_code).toBe("job_not_found");
  });

  it("removes a probe a day after its end", async () => {
    const id = await newProbe();
    await completed(id);
    const ended = (ageMs: number) =>
      rewriteState(jobOf(env, id), (state) => ({ ...state, completedAt: Date.now() - ageMs }));
    await ended(23 * 60 * 60_000);
    await runDurableObjectAlarm(jobOf(env, id));
    expect((await ask("GET", `/probes/${id}`)).status).toBe(200);
    await ended(25 * 60 * 60_000);
    await runDurableObjectAlarm(jobOf(env, id));
    expect((await ask("GET", `/probes/${id}`)).body.error_code).toBe("probe_not_found");
  });

  it.each([
    ["of another account", async () => [await newProbe(), (await newAccount()).key]],
    ["that is a job", async () => [(await ask("POST", "/jobs", jobBody())).body.id, account.key]],
    ["that never was", async () => ["AAAAAAAAAAAAAA", account.key]],
    ["of no form", async () => ["none", account.key]],
  ])("does not find a probe %s", async (_, make) => {
    const [id, key] = await make();
    const { status, body } = await ask("GET", `/probes/${id}`, undefined, key);
    expect([status, body.error_code]).toEqual([404, "probe_not_found"]);
  });
});

it.each([
  [[], "json_not_valid", "The body must be a JSON object"],
  [{}, "input_not_valid", "The job 'input' is not a valid object."],
  [{ input: {} }, "input_url_not_valid", "`input.url` is missing: the http or https URL of the media file"],
  [{ input: { ...SOURCE, start: 1 } }, "input_not_valid", "`input` has no field `start`"],
  [{ input: { upload: "none" } }, "input_not_valid", "`input.upload`: the account has no upload with this id"],
  [{ input: SOURCE, outputs: {} }, "request_not_valid", "The body has no field `outputs`; allowed: input, settings"],
  [{ input: SOURCE, settings: { queue: "A B" } }, "request_not_valid", "`settings.queue` must have 1 to 32 characters"],
  [{ input: SOURCE, settings: { priority: 50 } }, "request_not_valid", "`settings` has no field `priority`"],
  [{ input: { url: "https://a.example/\ud800" } }, "input_not_valid", "`input.url` must"],
])("rejects the body %j", async (body, code, message) => {
  const refused = await ask("POST", "/probes", body);
  expect([refused.status, refused.body.error_code]).toEqual([400, code]);
  expect(refused.body.message).toContain(message);
});

it.each(["31", "-1", "soon"])("rejects a wait of %s seconds", async (wait) => {
  const refused = await ask("POST", `/probes?wait=${wait}`, { input: SOURCE });
  expect(refused).toMatchObject({ status: 400, body: { error_code: "query_not_valid" } });
  expect(refused.body.message).toContain("`wait` must be a number of seconds from 0 to 30");
});

it.each(["POST", "GET"])("%s requires an API key", async (method) => {
  const path = method === "POST" ? "/v2/probes" : "/v2/probes/AAAAAAAAAAAAAA";
  const { status, body } = await send(path, { method, ...(method === "POST" ? { body: { input: SOURCE } } : {}) });
  expect([status, body.error_code]).toEqual([401, "authentication_failed"]);
});

describe("dry run for a probed source", () => {
  const outputs = { "mp4:240p": { path: "a.mp4", if: "{{ input.file_size }} < 1000" } };
  const plan = (probe: string) => ask("POST", `/jobs?dry_run=true&probe=${probe}`, jobBody({ outputs }));

  it("plans with all facts that the node found", async () => {
    const id = await newProbe();
    await completed(id);
    const { status, body } = await plan(id);
    expect(status).toBe(200);
    expect(body.assumed_source).toEqual({
      width: 1280,
      height: 720,
      fps: 29.97,
      duration: 10.01,
      rotation: 0,
      audio: true,
      probe: id,
    });
    // An assumed source would have no size.
    expect(body.outputs).toMatchObject([{ key: "mp4:240p", skipped: true }]);
  });

  it.each([
    ["that has not ended", newProbe, 409, "probe_not_completed"],
    ["that is unknown", async () => "AAAAAAAAAAAAAA", 404, "probe_not_found"],
  ] as const)("rejects a probe %s", async (_, make, status, code) => {
    const refused = await plan(await make());
    expect([refused.status, refused.body.error_code]).toEqual([status, code]);
  });
});
