import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { accountOf } from "../rpc/account.ts";
import { jobOf } from "../rpc/job.ts";
import { basic, failedWith, jobBody, newAccount, operator, send, useAccount } from "../testing/jobs.ts";
import { type AccountObject, judgeJob } from "./account-object.ts";

const account = useAccount();
const admin = (path: string, body: unknown = {}) => operator.post(`/v2/admin${path}`, body);

describe("an account's jobs", () => {
  const post = (key: string, headers: Record<string, string> = {}, query = "") =>
    send(`/v2/jobs${query}`, { method: "POST", body: jobBody(), headers: { ...basic(key), ...headers } });

  it("are rejected above its limit, except repeated requests and jobs of other accounts", async () => {
    const full = await newAccount();
    // At the limit, the object keeps a count for five seconds.
    vi.useFakeTimers({ toFake: ["Date"] });
    expect(await admin(`/accounts/${full.id}/limits`, { max_unfinished_jobs: 1 })).toMatchObject({
      status: 200,
      body: { account_id: full.id, max_unfinished_jobs: 1 },
    });
    const first = await post(full.key, { "idempotency-key": "one" });
    expect(first.status).toBe(201);
    const second = await post(full.key, { "idempotency-key": "two" });
    expect([second.status, second.body.error_code, second.headers.get("retry-after")]).toEqual([
      429,
      "too_many_jobs",
      "5",
    ]);
    expect(second.body.message).toBe(
      "The account has reached its limit of 1 unfinished jobs; try again after some have ended",
    );
    expect((await post(full.key, { "idempotency-key": "one" })).body).toEqual(first.body);
    expect((await post(full.key, {}, "?dry_run=true")).status).toBe(200);
    expect((await post(account.key)).status).toBe(201);
    // A retry starts a job again.
    await full.delete(`/v2/jobs/${first.body.id}`);
    const again = await full.post(`/v2/jobs/${first.body.id}/retry`);
    expect([again.status, again.body.error_code]).toEqual([429, "too_many_jobs"]);
    await admin(`/accounts/${full.id}/limits`, { max_unfinished_jobs: null });
    expect((await post(full.key)).status).toBe(201);
    vi.useRealTimers();
  });

  it("are added to a count while their rows are not stored yet", async () => {
    const object = accountOf(env, "being-started");
    const now = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now });
    const startJobs = async (count: number) => (await object.startJobs(40, count)).started;
    expect(await startJobs(100)).toBe(40);
    vi.setSystemTime(now + 6000);
    expect(await Promise.all([startJobs(40), startJobs(40)])).toEqual([0, 0]);
    vi.setSystemTime(now + 12_000);
    expect(await startJobs(100)).toBe(40);
    vi.useRealTimers();
  });

  it.each<[string, (account: AccountObject, at: number) => Promise<number>]>([
    ["jobs", async (account) => (await account.startJobs(2, 1)).started],
    ["probes", (account, at) => account.startProbe(`p${at}`, 2)],
  ])("admit no more %s than the limit when all wait for the same count", async (what, start) => {
    const admitted = await runInDurableObject(accountOf(env, `same-count-${what}`), (object) =>
      Promise.all([1, 2, 3, 4, 5].map((at) => start(object as unknown as AccountObject, at))),
    );
    expect(admitted).toEqual([1, 1, 0, 0, 0]);
  });

  const at = 1_000_000;
  it.each<[string, Parameters<typeof judgeJob>[0], number, string]>([
    ["were never counted", null, at, "count"],
    ["are few", { counted: 3, started: 1, at }, at + 60_000, "admit"],
    ["were counted long ago", { counted: 3, started: 1, at }, at + 60_001, "count"],
    ["are as many as may be", { counted: 3, started: 2, at }, at + 5000, "reject"],
    ["were as many a while ago", { counted: 3, started: 2, at }, at + 5001, "count"],
  ])("are judged by their count if they %s", (_, count, now, verdict) => {
    expect(judgeJob(count, 5, now)).toBe(verdict);
  });

  it.each([{}, { max_unfinished_jobs: 0 }, { max_unfinished_jobs: 1.5 }, { max_unfinished_jobs: "5" }, { jobs: 5 }])(
    "cannot have the limit %j",
    async (body) => {
      const refused = await admin(`/accounts/${account.id}/limits`, body);
      expect([refused.status, refused.body.error_code]).toEqual([400, "request_not_valid"]);
    },
  );

  it("cannot have a limit for an account that does not exist", async () => {
    expect(await admin("/accounts/nobody/limits", { max_unfinished_jobs: 5 })).toMatchObject(
      failedWith(404, "account_not_found"),
    );
  });
});

describe("an account's receivers", () => {
  it("get no deliveries after ten consecutive failures, each separately, also after the object restarts", async () => {
    const object = accountOf(env, "receivers");
    for (let at = 0; at < 10; at++) {
      expect((await object.admitDelivery("down.test")).go).toBe(true);
      await object.deliveryEnded("down.test", false);
    }
    expect(await object.admitDelivery("down.test")).toMatchObject({ go: false });
    expect((await object.admitDelivery("up.test")).go).toBe(true);
    expect((await accountOf(env, "another").admitDelivery("down.test")).go).toBe(true);
  });

  it("get twenty concurrent deliveries, and the others at intervals", async () => {
    const object = accountOf(env, "crowd");
    for (let at = 0; at < 20; at++) expect((await object.admitDelivery("a.test")).go).toBe(true);
    const [first, second] = [await object.admitDelivery("a.test"), await object.admitDelivery("a.test")];
    if (first.go || second.go) throw new Error("They should wait");
    expect(second.at).toBeGreaterThanOrEqual(first.at + 50);
    await object.deliveryEnded("a.test", true);
    expect((await object.admitDelivery("a.test")).go).toBe(true);
  });

  it("lose no notification: it is postponed without an attempt, and sent when they are back", async () => {
    const host = "down-for-jobs.test:8080";
    const notification = { type: "http", url: `http://${host}/hook`, events: true };
    const sent = vi.spyOn(globalThis, "fetch");
    const object = accountOf(env, account.id);
    for (let at = 0; at < 10; at++) {
      await object.admitDelivery(host);
      await object.deliveryEnded(host, false);
    }
    const { body } = await account.post("/v2/jobs", jobBody({ notification }));
    const path = `/v2/jobs/${body.id}`;
    await account.delete(path);
    await jobOf(env, body.id).replay(`msg_${body.id}_1`);
    const log = async () => (await account.get(`${path}/notifications`)).body.notifications[0];
    await vi.waitFor(
      async () => expect(Date.parse((await log())?.next_attempt_at)).toBeGreaterThan(Date.now() + 5000),
      { timeout: 10_000 },
    );
    expect(await log()).toMatchObject({ status: "due", attempts: 0 });
    // The job's storage is asked; its receiver is not.
    const urls = sent.mock.calls.map(([request]) => (request instanceof Request ? request.url : String(request)));
    expect(urls.filter((url) => url.includes(host))).toEqual([]);
    sent.mockRestore();
  });
});
