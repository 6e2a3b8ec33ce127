import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { TaskChanges } from "#shared/api/task-responses.ts";
import type { JobView } from "#shared/job/job-view.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import { READ } from "../../events/event-sockets.ts";
import { accountOf } from "../../rpc/account.ts";
import { jobOf } from "../../rpc/job.ts";
import { basic, jobBody, newAccount, PROBE, send } from "../../testing/jobs.ts";
import { joined, useNodes } from "../../testing/nodes.ts";
import { loadState } from "../../testing/stored-state.ts";
import { claimOne, inspectSource, sendProgress } from "../../testing/turns.ts";

let authorization: Record<string, string>;
beforeAll(async () => {
  authorization = basic((await newAccount()).key);
});

const VIDEO = { outputs: { "mp4:240p": { path: "a.mp4" } } };
const newJob = async (): Promise<string> =>
  (await send("/v2/jobs", { method: "POST", body: jobBody(VIDEO), headers: authorization })).body.id;
const cancel = (id: string) => send(`/v2/jobs/${id}`, { method: "DELETE", headers: authorization });
/** Resolves after the last work of the job's object. */
const listedAsAborted = (id: string) =>
  vi.waitFor(async () =>
    expect((await send("/v2/jobs?status=job.aborted", { headers: authorization })).body.jobs[0]?.id).toBe(id),
  );
const request = (id: string, init: RequestInit = { headers: authorization }): Promise<Response> =>
  exports.default.fetch(new Request(`https://copra.test/v2/jobs/${id}/events`, init));

type Heard = { event: string; id: number; job: JobView };

/** A client of the stream that reads like browsers. Collects the events about tasks, and returns all others. */
async function listen(id: string, lastEventId: string | null = null) {
  const headers = lastEventId === null ? authorization : { ...authorization, "last-event-id": lastEventId };
  const response = await request(id, { headers });
  expect(response.status).toBe(200);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const tasks: TaskChanges[] = [];
  /** The next event with data, or null at the end. */
  const next = async (): Promise<Heard | null> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end < 0) {
        const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
        if (done) return null;
        text += value;
        continue;
      }
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = field("data");
      if (data && field("event") === "tasks") tasks.push(TaskChanges.parse(JSON.parse(data)));
      else if (data) return { event: field("event") ?? "", id: Number(field("id")), job: JSON.parse(data) };
    }
  };
  return { headers: response.headers, next, tasks, close: () => reader?.cancel() };
}

async function claim(id: string, slotClass: "inspect" | "encode") {
  const assignment = await claimOne(jobOf(env, id), slotClass, "node");
  return { lease: assignment.lease, token: assignment.token };
}

describe("GET /v2/jobs/:id/events", () => {
  it("sends the end of a job even when its object is gone", async () => {
    const id = await newJob();
    await cancel(id);
    const byObject = await listen(id);
    expect([await byObject.next(), await byObject.next(), await byObject.next()]).toMatchObject([
      { event: "job", job: { status: "job.aborted" } },
      { event: "end", job: { status: "job.aborted" } },
      null,
    ]);
    await listedAsAborted(id);
    await runInDurableObject(jobOf(env, id), (_, { storage }) => storage.deleteAll());
    await evictDurableObject(jobOf(env, id));
    const byRow = await listen(id);
    expect([await byRow.next(), await byRow.next(), await byRow.next()]).toMatchObject([
      { event: "job", id: 1, job: { id, status: "job.aborted", progress: "100%" } },
      { event: "end", id: 2, job: { id, status: "job.aborted" } },
      null,
    ]);
  });

  it("follows a restarted job", async () => {
    const id = await newJob();
    await cancel(id);
    await send(`/v2/jobs/${id}/retry`, { method: "POST", headers: authorization });
    const stream = await listen(id);
    expect(await stream.next()).toMatchObject({ event: "job", job: { status: "job.starting" } });
    await cancel(id);
    expect(await stream.next()).toMatchObject({ event: "job", job: { status: "job.aborted" } });
    expect(await stream.next()).toMatchObject({ event: "end" });
  });

  it("continues with increasing ids when the job's object has lost its memory", async () => {
    const id = await newJob();
    const stream = await listen(id);
    expect((await stream.next())?.id).toBe(1);
    await evictDurableObject(jobOf(env, id));
    await cancel(id);
    const ids: number[] = [];
    for (let event = await stream.next(); event; event = await stream.next()) ids.push(event.id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect(ids[0]).toBeGreaterThan(1);
    const again = await newJob();
    const later = await listen(again, "12");
    expect((await later.next())?.id).toBe(13);
    await later.close();
  });

  it("sends the end of a job that a slow client had not read when the job's object lost its memory", async () => {
    const id = await newJob();
    const headers = { upgrade: "websocket" };
    const { webSocket } = await jobOf(env, id).fetch("https://object/events", { headers });
    const texts: string[] = [];
    webSocket?.addEventListener("message", ({ data }) => texts.push(String(data)));
    webSocket?.accept();
    await vi.waitFor(() => expect(texts).toEqual([expect.stringContaining("job.starting")]));
    await cancel(id);
    await listedAsAborted(id);
    await evictDurableObject(jobOf(env, id));
    webSocket?.send(READ);
    await vi.waitFor(() => expect(texts[1]).toMatch(/job\.aborted.*event: end/s));
  });

  it("allows twenty streams per job, and forgets closed streams at the next change", async () => {
    const id = await newJob();
    const inspect = await claim(id, "inspect");
    const streams = await Promise.all(Array.from({ length: 20 }, () => listen(id)));
    for (const { next } of streams) await next();
    const refused = await request(id);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("10");
    expect(await refused.json()).toMatchObject({ error_code: "rate_limited", status: "error" });
    await streams[0]?.close();
    await sendProgress(jobOf(env, id), [{ ...inspect, stage: "transferring", fraction: 0.5 }]);
    await vi.waitFor(async () => expect((await request(id)).status).toBe(200));
    await Promise.all(streams.map(({ close }) => close()));
    await cancel(id);
  });

  it("limits the streams per account, and no longer counts closed streams", async () => {
    const { id: account, key } = await newAccount();
    const headers = basic(key);
    const [first, second] = await Promise.all(
      [1, 2].map(async () => (await send("/v2/jobs", { method: "POST", body: jobBody(VIDEO), headers })).body.id),
    );
    // The account's other jobs leave a single free stream.
    await accountOf(env, account).follow("others", 199);
    const stream = (await request(first, { headers })).body?.getReader();
    await stream?.read();
    const refused = await request(second, { headers });
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error_code: "rate_limited" });
    const others = await listen(await newJob());
    await stream?.cancel();
    await send(`/v2/jobs/${first}`, { method: "DELETE", headers });
    const again = await vi.waitFor(async () => {
      const response = await request(second, { headers });
      expect(response.status).toBe(200);
      return response;
    });
    await Promise.all([again.body?.cancel(), others.close()]);
    await send(`/v2/jobs/${second}`, { method: "DELETE", headers });
  });

  it("stores nothing when it shows progress, like a single request", async () => {
    const id = await newJob();
    const inspect = await claim(id, "inspect");
    const job = jobOf(env, id);
    await sendProgress(job, [{ ...inspect, stage: "transferring", fraction: 0.1 }]);
    const storedPercent = () => runInDurableObject(job, (_, { storage }) => loadState(storage)?.shownPercent);
    const stream = await listen(id);
    await stream.next();
    await sendProgress(job, [{ ...inspect, stage: "transferring", fraction: 0.9 }]);
    expect((await stream.next())?.job.progress).toBe("4%");
    expect(await storedPercent()).toBe(0);
    await send(`/v2/jobs/${id}`, { headers: authorization });
    expect(await storedPercent()).toBe(0);
    await stream.close();
    await cancel(id);
  });

  it("estimates the end of a job: in responses, also with the same ETag, in lists and in its stream", async () => {
    const id = await newJob();
    const job = jobOf(env, id);
    await inspectSource(job);
    const { lease, token } = await claimOne(job, "encode");
    const read = (path = `/${id}`, init = {}) => send(`/v2/jobs${path}`, { headers: authorization, ...init });
    const report = (fraction: number, ageMs: number) =>
      sendProgress(job, [{ lease, token, stage: "encoding", fraction, ageMs }]);
    await report(0, 60_000);
    expect((await read()).body.ends_at).toBeNull();
    await report(0.5, 0);
    const { body, headers } = await read();
    // Half of the encoding is 47.5 % of the work after the inspection, and has taken a minute.
    expect(Math.abs(Date.parse(body.ends_at) - Date.now() - 60_000 * (1 / 0.475 - 1))).toBeLessThan(10_000);
    await report(0.501, 0);
    expect((await read()).headers.get("etag")).toBe(headers.get("etag"));
    await read(`/${id}`, { method: "PATCH", body: { tags: { a: "b" } } });
    expect((await read("?tag.a=b")).body.jobs).toMatchObject([{ id, ends_at: body.ends_at }]);
    const stream = await listen(id);
    expect((await stream.next())?.job.ends_at).toBe(body.ends_at);
    await stream.close();
    // The pace of the node that had the task does not count while the job waits again.
    await job.fail(lease, { token, failure: { code: "node_failed", message: "It broke" } });
    expect((await read()).body).toMatchObject({ state: "queued", ends_at: null });
    await cancel(id);
    expect((await read()).body.ends_at).toBeNull();
  });

  it("rejects streams for other accounts, unknown jobs and other methods", async () => {
    const id = await newJob();
    const stranger = basic((await newAccount()).key);
    const rows: [string, RequestInit, number, string][] = [
      [id, {}, 401, "authentication_failed"],
      [id, { headers: stranger }, 404, "job_not_found"],
      ["AAAAAAAAAAAAAA", { headers: authorization }, 404, "job_not_found"],
      [id, { headers: authorization, method: "POST" }, 405, "method_not_allowed"],
    ];
    for (const [job, init, status, code] of rows) {
      const response = await request(job, init);
      expect([response.status, (await response.json<{ error_code: string }>()).error_code]).toEqual([status, code]);
    }
  });
});

describe("events of a job in a fleet", () => {
  useNodes();

  it("sends each change of a job, then its end", async () => {
    authorization = basic((await newAccount()).key);
    // Without a node, the job would state that it waits for a node.
    await joined("busy", { inspect: 0, encode: 0 });
    const id = await newJob();
    const job = jobOf(env, id);
    const stream = await listen(id);
    expect(stream.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(stream.headers.get("cache-control")).toBe("no-store");
    const heard: Heard[] = [];
    const hear = async () => {
      const event = await stream.next();
      if (event) heard.push(event);
      return event?.job;
    };
    expect(await hear()).toEqual((await send(`/v2/jobs/${id}`, { headers: authorization })).body);

    const inspect = await claim(id, "inspect");
    expect(await hear()).toMatchObject({ state: "running", input: { status: "input.starting" } });
    await sendProgress(job, [{ ...inspect, stage: "transferring", fraction: 0.5 }]);
    expect(await hear()).toMatchObject({ input: { status: "input.transferring" } });
    await job.complete(inspect.lease, { token: inspect.token, result: { kind: "inspect", probe: PROBE } });
    expect(await hear()).toMatchObject({
      input: { status: "input.transferred" },
      outputs: [{ status: "video.queued" }],
    });

    const encode = await claim(id, "encode");
    expect(await hear()).toMatchObject({ state: "running", outputs: [{ status: "video.queued" }] });
    await sendProgress(job, [{ ...encode, stage: "encoding", fraction: 0.3 }]);
    const before = await hear();
    expect(before).toMatchObject({ outputs: [{ status: "video.encoding", progress: "28%" }] });
    await sendProgress(job, [{ ...encode, stage: "encoding", fraction: 0.5 }]);
    expect(await hear()).toMatchObject({ outputs: [{ status: "video.encoding", progress: "47%" }] });

    await job.uploads(encode.lease, { token: encode.token, files: [{ output: 0, file: 1, sizeBytes: 9 }] });
    const files = [{ output: 0, file: 1, sizeBytes: 9, etags: ["e"] }];
    const report = { kind: "encode", outputs: [{ status: "made", output: 0, files, probe: PROBE }] } as unknown;
    await job.complete(encode.lease, { token: encode.token, result: report as TaskResult });
    const completed = await hear();
    expect(completed).toMatchObject({
      status: "job.completed",
      progress: "100%",
      outputs: [{ url: expect.stringMatching(/a\.mp4$/) }],
    });
    expect(await hear()).toEqual(completed);
    expect(await stream.next()).toBeNull();
    expect(heard.map(({ event }) => event)).toEqual([...Array(8).fill("job"), "end"]);
    const ids = heard.map((event) => event.id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    // The events together contain all changes of the encode.
    const encoded = stream.tasks.flatMap(({ tasks }) => tasks.filter(({ id }) => id === "encode"));
    expect(stream.tasks[0]?.tasks).toMatchObject([{ id: "inspect", status: "waiting", attempt: 0 }]);
    expect(encoded.at(-1)).toMatchObject({ status: "completed", node: "node", attempt: 1, progress: 1 });
    expect(stream.tasks.flatMap(({ attempts }) => attempts)).toMatchObject([
      { task: "inspect", attempt: 1, outcome: "completed" },
      { task: "encode", attempt: 1, outcome: "completed" },
    ]);
  });
});
