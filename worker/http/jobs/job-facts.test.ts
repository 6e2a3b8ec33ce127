import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { CommandList, RequestView } from "#shared/api/command-responses.ts";
import { QueueView, TaskList } from "#shared/api/task-responses.ts";
import { MAX_COMMAND_CHARS } from "#shared/protocol/commands.ts";
import { jobOf } from "../../rpc/job.ts";
import { basic, bearer, jobBody, newAccount, newNodeToken, PROBE, SECRET_KEY, send } from "../../testing/jobs.ts";
import { loadState, rewriteState } from "../../testing/stored-state.ts";
import { claimOne } from "../../testing/turns.ts";

let authorization: Record<string, string>;
beforeAll(async () => {
  authorization = basic((await newAccount()).key);
});

const FACTS = ["tasks", "commands", "request", "queue"] as const;
const factOf = async (id: string, fact: (typeof FACTS)[number]) =>
  (await send(`/v2/jobs/${id}/${fact}`, { headers: authorization })).body;
const create = async (changes: Record<string, unknown> = {}): Promise<string> =>
  (await send("/v2/jobs", { method: "POST", body: jobBody(changes), headers: authorization })).body.id;

async function claim(id: string, slotClass: "inspect" | "encode") {
  const { lease, token } = await claimOne(jobOf(env, id), slotClass, "attic");
  return { lease, token };
}

/** Creates a job whose source was inspected and whose encode has failed once, with these commands. */
async function failedOnce(commands: unknown): Promise<{ id: string; status: number }> {
  const id = await create();
  const inspect = await claim(id, "inspect");
  await jobOf(env, id).complete(inspect.lease, { token: inspect.token, result: { kind: "inspect", probe: PROBE } });
  const { lease, token } = await claim(id, "encode");
  const body = { token, failure: { code: "encoding_failed", message: "It broke" }, commands };
  const headers = bearer(await newNodeToken());
  const { status } = await send(`/v2/nodes/leases/${lease}/fail`, { method: "POST", body, headers });
  return { id, status };
}

const COMMAND = {
  argv: ["-i", "source", "-c:v", "libx264", "240p.mp4"],
  afterMs: 120,
  tookMs: 2500,
  exitCode: 1,
  stderrTail: "Line one\nConversion failed!",
};

describe("details about a job", () => {
  it("lists the tasks, attempts and commands of a job", async () => {
    const { id, status } = await failedOnce([COMMAND]);
    expect(status).toBe(200);
    const tasks = TaskList.parse(await factOf(id, "tasks"));
    expect(tasks.job_id).toBe(id);
    expect(tasks.tasks).toMatchObject([
      { id: "inspect", status: "completed", node: "attic" },
      { id: "encode", status: "waiting", attempt: 1, progress: 0 },
    ]);
    expect(tasks.attempts).toMatchObject([
      { task: "inspect", outcome: "completed" },
      { task: "encode", attempt: 1, node: "attic", outcome: "failed", reason: "It broke" },
    ]);
    const { commands } = CommandList.parse(await factOf(id, "commands"));
    expect(commands).toEqual([
      {
        task: "encode",
        attempt: 1,
        node: "attic",
        argv: COMMAND.argv,
        seconds: 2.5,
        exit_code: 1,
        stderr_tail: COMMAND.stderrTail,
        started_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      },
    ]);
    const started = Date.parse(tasks.attempts[1]?.started_at ?? "");
    expect(Date.parse(commands[0]?.started_at ?? "") - started).toBe(120);
  });

  it("rejects commands that no node may report", async () => {
    const long = Array.from({ length: 20 }, () => "x".repeat(1000));
    const rows: unknown[] = [
      [{ ...COMMAND, argv: long }],
      [{ ...COMMAND, argv: ["\u0007"] }],
      [{ ...COMMAND, signal: "rm -rf" }],
      [{ ...COMMAND, tookMs: -1 }],
      Array.from({ length: 500 }, () => ({ ...COMMAND, argv: [] })),
      "ffmpeg",
    ];
    expect(JSON.stringify(rows[0]).length).toBeGreaterThan(MAX_COMMAND_CHARS);
    for (const commands of rows) {
      const { id, status } = await failedOnce(commands);
      expect([status, (await factOf(id, "commands")).commands]).toEqual([400, []]);
    }
  });

  it("requires the API key of the job's account", async () => {
    const id = await create();
    const stranger = basic((await newAccount()).key);
    for (const fact of FACTS) {
      const rows: [string, string, Record<string, string>, number, string][] = [
        [id, "GET", {}, 401, "authentication_failed"],
        [id, "GET", stranger, 404, "job_not_found"],
        ["AAAAAAAAAAAAAA", "GET", authorization, 404, "job_not_found"],
        ["no-id", "GET", authorization, 404, "job_not_found"],
        [id, "POST", authorization, 405, "method_not_allowed"],
      ];
      for (const [job, method, headers, status, code] of rows) {
        const refused = await send(`/v2/jobs/${job}/${fact}`, { method, headers });
        expect([refused.status, refused.body.error_code]).toEqual([status, code]);
      }
    }
  });
});

describe("the place of a job in the queue", () => {
  it("counts the earlier jobs in the queue, until the job no longer waits", async () => {
    const settings = { queue: "queue-of-two" };
    const [first, second] = [await create({ settings }), await create({ settings })];
    const place = async (id: string) => QueueView.parse(await factOf(id, "queue"));
    await vi.waitFor(async () =>
      expect(await place(second)).toEqual({ job_id: second, ahead: 1, starts_in_seconds: null }),
    );
    expect(await place(first)).toMatchObject({ ahead: 0 });
    await send(`/v2/jobs/${second}`, { method: "PATCH", body: { settings: { priority: 50 } }, headers: authorization });
    await vi.waitFor(async () => expect((await place(first)).ahead).toBe(1));
    await send(`/v2/jobs/${second}`, { method: "DELETE", headers: authorization });
    expect(await place(second)).toEqual({ job_id: second, ahead: null, starts_in_seconds: null });
    await claim(first, "inspect");
    expect((await place(first)).ahead).toBeNull();
  });

  it("is part of the estimated end of a job that waits again", async () => {
    const id = await create();
    const pace = { samples: [], leftMs: 60_000, endsAt: Date.UTC(2100, 0, 1), isQueued: true };
    await rewriteState(jobOf(env, id), (state) => ({ ...state, pace }));
    expect(await runInDurableObject(jobOf(env, id), (_, { storage }) => loadState(storage)?.pace)).toEqual(pace);
    // No node takes work, so the queue does not know when the job starts.
    const { body } = await send(`/v2/jobs/${id}`, { headers: authorization });
    expect(body).toMatchObject({ state: "queued", ends_at: null });
  });
});

describe("the request of a job", () => {
  const SECRET = "sesame-open-7";
  const secretUrl = (path: string): string => `https://me:${SECRET}@media.example.com/${path}?sig=${SECRET}`;

  it("returns a request that can be sent again, and names omitted fields", async () => {
    const outputs = {
      "mp4:240p": [
        { path: "a.mp4", watermark: { url: secretUrl("logo.png") } },
        { path: "b.mp4", key: "two" },
      ],
      httpstream: {
        hls: { path: "hls" },
        variants: ["mp4:240p"],
        subtitles: [{ url: secretUrl("en.srt"), language: "en" }],
        encryption: { key: "00112233445566778899aabbccddeeff", key_uri: "https://keys.example.com/1" },
      },
    };
    const notification = { type: "http", url: secretUrl("hook"), params: { token: SECRET } };
    const changes = { input: { url: secretUrl("video.mp4") }, outputs, notification };
    const view = RequestView.parse(await factOf(await create(changes), "request"));
    expect(JSON.stringify(view)).not.toMatch(new RegExp(`${SECRET}|${SECRET_KEY}|00112233`));
    expect(view.left_out).toEqual([
      ...["input.url", "storage.credentials", "outputs.mp4:240p.0.watermark.url"],
      ...["outputs.httpstream.subtitles.0.url", "outputs.httpstream.encryption.key"],
      ...["notification.url", "notification.params"],
    ]);
    expect(view.request).toMatchObject({
      input: { url: "https://media.example.com/video.mp4" },
      outputs: { "mp4:240p": [{ path: "a.mp4" }, { path: "b.mp4", key: "two" }] },
    });
    const { storage } = jobBody(changes) as { storage: { credentials: object } };
    const again = { ...view.request, storage: { ...view.request.storage, credentials: storage.credentials } };
    const created = await send("/v2/jobs", { method: "POST", body: again, headers: authorization });
    expect(created.status).toBe(201);
    const same = RequestView.parse(await factOf(created.body.id, "request"));
    expect(same.request).toEqual(view.request);
    expect(same.left_out).toEqual(["storage.credentials"]);
  });

  it("omits the credentials of buckets and topics", async () => {
    const keys = { access_key_id: "AKID", secret_access_key: SECRET };
    const bucket = { service: "s3", bucket: "videos", region: "eu-west-1", credentials: keys };
    const topic_arn = "arn:aws:sns:eu-west-1:123456789012:videos";
    const id = await create({
      input: { ...bucket, key: "in/video.mp4" },
      notification: { type: "sns", region: "eu-west-1", topic_arn, credentials: keys, params: { tenant: SECRET } },
    });
    const { request, left_out } = RequestView.parse(await factOf(id, "request"));
    expect(request.input).toEqual({ service: "s3", bucket: "videos", region: "eu-west-1", key: "in/video.mp4" });
    expect(left_out).toEqual([
      ...["input.credentials", "storage.credentials", "notification.credentials", "notification.params"],
    ]);
    expect(JSON.stringify(request)).not.toContain(SECRET);
  });
});
