import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { verifyWebhook } from "../../../client/webhook.ts";
import { findAccount } from "../../db/accounts.ts";
import { accountOf } from "../../rpc/account.ts";
import { basic, jobBody, newAccount, send } from "../../testing/jobs.ts";
import { receivedAt } from "../../testing/received.ts";
import { app } from "../app.ts";
import { rotateWebhookSecret } from "../webhooks/webhook-secrets.ts";

type Account = Awaited<ReturnType<typeof newAccount>>;

let account: Account;
beforeAll(async () => {
  account = await newAccount();
});

const post = (path: string, body?: unknown, { key } = account) =>
  send(path, { method: "POST", headers: basic(key), ...(body === undefined ? {} : { body }) });
const test = (body: unknown) => post("/v2/notifications/test", body);

/** A URL whose server responds with `answer`. */
const answering = (answer: object): string => `${inject("answers")}/${btoa(JSON.stringify(answer))}/hook`;

describe("POST /v2/notifications/test", () => {
  it.each<[string, string, object]>([
    ["accepts it", answering({ status: 204 }), { delivered: true, status: 204 }],
    ["rejects it", answering({ status: 500 }), { delivered: false, status: 500 }],
    ["moves", answering({ status: 302, headers: { location: "http://10.0.0.1" } }), { delivered: false, status: 302 }],
    [
      "does not respond",
      "http://127.0.0.1:9/hook",
      { delivered: false, status: null, error: expect.stringMatching(/^No response/) },
    ],
  ])("reports that an endpoint %s", async (_, url, expected) => {
    expect(await test({ url })).toMatchObject({ status: 200, body: { ...expected, seconds: expect.any(Number) } });
  });

  it("sends an example of an event, signed with the account's secret", async () => {
    const url = "http://receiver.test/hook";
    const [request] = await receivedAt(url, () => test({ url, event: "output.failed" }));
    if (!request) throw new Error("Nothing was sent");
    expect(request.headers.get("webhook-id")).toMatch(/^test_/);
    const payload = await verifyWebhook(request, account.webhookSecret);
    expect(payload).toMatchObject({ event: "output.failed", job_id: "00000000000000" });
  });

  it.each<[unknown, RegExp]>([
    [{}, /^`url` is missing: the URL to send it to/],
    [{ url: 7 }, /^`url` must be a string/],
    [{ url: "ftp://example.com" }, /^`url` has the scheme `ftp`/],
    [{ url: "http://10.0.0.1/hook" }, /^`url` has the host .* not a public address/],
    [{ url: "http://169.254.169.254/latest" }, /^`url` has the host .* not a public address/],
    [{ url: "http://user:%@example.com/" }, /percent-encoded/],
    [{ url: "https://example.com/", event: "job.done" }, /^`event` must be one of input\.transferred, /],
    [{ url: "https://example.com/", events: true }, /has no field `events`; did you mean `event`/],
  ])("rejects the body %j and names the field", async (body, message) => {
    const refused = await test(body);
    expect([refused.status, refused.body.error_code]).toEqual([400, "request_not_valid"]);
    expect(refused.body.message).toMatch(message);
  });

  it("limits the rate of tests for each account", async () => {
    const [busy, calm] = [await newAccount(), await newAccount()];
    const request = (key: string) =>
      app.request(
        "/v2/notifications/test",
        { method: "POST", headers: basic(key), body: JSON.stringify({ url: answering({ status: 204 }) }) },
        { ...env, SEND_RATE: env.TIGHT_RATE },
      );
    // The limit is two a minute. A minute may end and another start meanwhile.
    const statuses: number[] = [];
    for (let at = 0; at < 5; at++) statuses.push((await request(busy.key)).status);
    expect([statuses[0], statuses.includes(429), (await request(calm.key)).status]).toEqual([200, true, 200]);
  });
});

describe("a replay to another URL", () => {
  const cancelled = async (): Promise<{ path: string; id: string }> => {
    const notification = { type: "http", url: "http://127.0.0.1:9/", events: true };
    const { body: job } = await post("/v2/jobs", jobBody({ notification }));
    await account.delete(`/v2/jobs/${job.id}`);
    return { path: `/v2/jobs/${job.id}/notifications/msg_${job.id}_1/replay`, id: job.id };
  };

  it("sends the same id and body once to the other URL, and keeps the schedule", async () => {
    const { path, id } = await cancelled();
    const url = "http://staging.test/hook";
    const answers: Awaited<ReturnType<typeof post>>[] = [];
    const requests = await receivedAt(url, async () => {
      answers.push(await post(path, { url }), await post(path, { url }));
    });
    expect(answers.map(({ status, body }) => [status, body.response])).toEqual([
      [200, { delivered: true, status: 204, seconds: expect.any(Number) }],
      [200, { delivered: true, status: 204, seconds: expect.any(Number) }],
    ]);
    expect(requests.map(({ headers }) => headers.get("webhook-id"))).toEqual([`msg_${id}_1`, `msg_${id}_1`]);
    expect(requests[0]?.body).toBe(requests[1]?.body);
    const [request] = requests;
    if (!request) throw new Error("Nothing was sent");
    expect(await verifyWebhook(request, account.webhookSecret)).toMatchObject({ job_id: id, event: "job.aborted" });
    const log = await account.get(`/v2/jobs/${id}/notifications`);
    expect(log.body.notifications[0]).toMatchObject({ status: "due", last_result: expect.not.stringMatching(/204/) });
    // Without a URL, the notification is replayed as usual.
    expect(await post(path)).toMatchObject({ status: 200, body: { status: "due" } });
  });

  it("rejects a replay for private URLs, unknown notifications and other accounts", async () => {
    const { path } = await cancelled();
    const url = "https://example.com/hook";
    const codeOf = async (...request: Parameters<typeof post>) => (await post(...request)).body.error_code;
    expect(await codeOf(path, { url: "http://10.0.0.1/" })).toBe("request_not_valid");
    expect(await codeOf(path, { to: url })).toBe("request_not_valid");
    expect(await codeOf(path.replace("_1/", "_9/"), { url })).toBe("notification_not_found");
    expect(await codeOf(path, { url }, await newAccount())).toBe("job_not_found");
  });
});

describe("POST /v2/account/webhook-secret", () => {
  it("returns a new secret once, and the previous secret also signs for a day", async () => {
    const owner = await newAccount();
    const { status, body } = await post("/v2/account/webhook-secret", undefined, owner);
    expect([status, body]).toEqual([
      200,
      {
        account_id: owner.id,
        webhook_secret: expect.stringMatching(/^whsec_.{44}$/),
        previous_until: expect.stringMatching(/ \+0000$/),
      },
    ]);
    const signWith = [body.webhook_secret, owner.webhookSecret];
    expect(await accountOf(env, owner.id).admitDelivery("a.test")).toMatchObject({ go: true, signWith });
    const url = "http://receiver.test/rotated";
    const [request] = await receivedAt(url, () => post("/v2/notifications/test", { url }, owner));
    if (!request) throw new Error("Nothing was sent");
    for (const secret of signWith) expect(await verifyWebhook(request, secret)).toHaveProperty("event");
  });
});

it("rejects the second of two simultaneous requests that replace a webhook secret", async () => {
  const owner = await newAccount();
  const read = await findAccount(env.DB, owner.id);
  if (!read) throw new Error("There is no account");
  const { webhook_secret: first } = await rotateWebhookSecret(env, read);
  await expect(rotateWebhookSecret(env, read)).rejects.toMatchObject({ code: "account_state_conflict" });
  const signWith = [first, owner.webhookSecret];
  expect(await accountOf(env, owner.id).admitDelivery("a.test")).toMatchObject({ go: true, signWith });
});

it.each(["/v2/notifications/test", "/v2/account/webhook-secret"])("POST %s requires an API key", async (path) => {
  expect((await send(path, { method: "POST" })).body.error_code).toBe("authentication_failed");
});
