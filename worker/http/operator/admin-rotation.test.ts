import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { openJobSecrets, sealJobSecrets } from "../../job/secrets/job-secrets.ts";
import { signatureHeaders } from "../../notify/signature.ts";
import { accountOf } from "../../rpc/account.ts";
import { jobOf } from "../../rpc/job.ts";
import { settingsOf } from "../../settings.ts";
import {
  ADMIN,
  answerOf,
  basic,
  bearer,
  failedWith,
  jobBody,
  newAccount,
  newSpec,
  operator,
  send,
} from "../../testing/jobs.ts";
import { app } from "../app.ts";

const admin = (path: string, body?: unknown) => operator.post(`/v2/admin${path}`, body);

/** Sends a request to the Worker with other settings. */
const withSettings = async (changes: Partial<typeof env>, path: string, init: RequestInit) =>
  answerOf(await app.request(path, init, { ...env, ...changes }));

describe("rotation of a webhook secret", () => {
  it("signs with the new secret at once, also for earlier jobs, and with the previous secret for a day", async () => {
    const { id, key, webhookSecret: old } = await newAccount();
    const headers = basic(key);
    const notification = { type: "http", url: "http://receiver.test/hook", events: true };
    const sent: { headers: Headers; body: string }[] = [];
    const fetched = vi.spyOn(globalThis, "fetch").mockImplementation(async (request) => {
      const { headers: signed, url } = request as Request;
      // The job's storage also receives requests.
      if (url === notification.url)
        sent.push({ headers: new Headers([...signed]), body: await (request as Request).text() });
      return new Response();
    });
    const { body: job } = await send("/v2/jobs", { method: "POST", body: jobBody({ notification }), headers });
    // The account's object has the old secret in memory.
    expect((await accountOf(env, id).admitDelivery("a.test")) satisfies object).toMatchObject({
      go: true,
      signWith: [old],
    });
    const { body: rotated, status } = await admin(`/accounts/${id}/rotate-secret`);
    expect(status).toBe(200);
    expect(rotated).toEqual({
      account_id: id,
      webhook_secret: expect.stringMatching(/^whsec_.{44}$/),
      previous_until: expect.stringMatching(/ \+0000$/),
    });
    await send(`/v2/jobs/${job.id}`, { method: "DELETE", headers });
    await vi.waitFor(() => expect(sent).toHaveLength(1));
    const [request] = sent;
    if (!request) throw new Error("Nothing was sent");
    const at = Number(request.headers.get("webhook-timestamp")) * 1000;
    const expected = await signatureHeaders([rotated.webhook_secret, old], `msg_${job.id}_1`, at, request.body);
    expect(request.headers.get("webhook-signature")).toBe(expected["webhook-signature"]);
    fetched.mockRestore();
    // The oldest secret no longer signs after the day, or after another rotation.
    const { body: third } = await admin(`/accounts/${id}/rotate-secret`);
    const signWith = [third.webhook_secret, rotated.webhook_secret];
    expect(await accountOf(env, id).admitDelivery("a.test")).toMatchObject({ go: true, signWith });
    await env.DB.prepare("UPDATE accounts SET previous_until = ? WHERE id = ?").bind(Date.now(), id).run();
    await accountOf(env, id).forgetSecrets();
    expect(await accountOf(env, id).admitDelivery("a.test")).toMatchObject({
      go: true,
      signWith: [third.webhook_secret],
    });
  });

  it("requires an existing account", async () => {
    expect(await admin("/accounts/nobody/rotate-secret")).toMatchObject(failedWith(404, "account_not_found"));
  });
});

describe("a changed sealing key", () => {
  const next = `t2:${btoa("x".repeat(32))}`;
  const post = (settings: Partial<typeof env>, key: string) =>
    withSettings(settings, "/v2/jobs", { method: "POST", headers: basic(key), body: JSON.stringify(jobBody()) });
  it("keeps credentials and earlier Idempotency-Keys valid", async () => {
    const { key } = await newAccount();
    const headers = { ...basic(key), "idempotency-key": "k" };
    const init = { method: "POST", headers, body: JSON.stringify(jobBody()) };
    const first = await withSettings({}, "/v2/jobs", init);
    const both = { SEALING_KEYS: `${next},${env.SEALING_KEYS}` };
    expect((await withSettings(both, "/v2/jobs", init)).body.id).toBe(first.body.id);
    expect((await withSettings({ SEALING_KEYS: next }, "/v2/jobs", { headers: basic(key) })).status).toBe(200);
  });

  const resealAll = async (settings: Partial<typeof env>) => {
    const failed: { id: string; message: string }[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const init = { method: "POST", headers: bearer(ADMIN), body: JSON.stringify(cursor ? { cursor } : {}) };
      const { status, body } = await withSettings(settings, "/v2/admin/reseal", init);
      expect(status).toBe(200);
      failed.push(...body.failed);
      cursor = body.next_cursor;
    }
    return failed;
  };

  it("removes a sealing key after everything was sealed again, and reports the missing key before that", async () => {
    const { key } = await newAccount();
    const lacking = await post({ SEALING_KEYS: next }, key);
    expect([lacking.status, lacking.body.error_code]).toEqual([503, "sealing_key_missing"]);
    expect(lacking.body.message).toBe(
      "The service no longer has the sealing key `t1`: its operator must add it to SEALING_KEYS again",
    );
    const rule = { when: "node.lost", to: { type: "slack", url: "https://hooks.slack.com/x" } };
    await operator.put("/v2/admin/alerts/lost", rule);
    expect(await resealAll({ SEALING_KEYS: `${next},${env.SEALING_KEYS}` })).toEqual([]);
    expect((await post({ SEALING_KEYS: next }, key)).status).toBe(201);
    const read = await withSettings({ SEALING_KEYS: next }, "/v2/admin/alerts/lost", { headers: bearer(ADMIN) });
    expect(read.body.to).toEqual({ type: "slack", receiver: "hooks.slack.com" });
  });

  it("seals the secrets of jobs again, and reports jobs that cannot be decrypted", async () => {
    const { sealingKeys } = settingsOf(env);
    const [older, lost] = [await newSpec(), await newSpec()];
    const secrets = await openJobSecrets(older, sealingKeys);
    const sealedBy = (id: string, keys: typeof sealingKeys) => sealJobSecrets(id, secrets, keys);
    const elsewhere = [{ id: "gone", bytes: new Uint8Array(32) }];
    await jobOf(env, older.id).create({ ...older, sealedSecrets: await sealedBy(older.id, sealingKeys.slice(1)) });
    await jobOf(env, lost.id).create({ ...lost, sealedSecrets: await sealedBy(lost.id, elsewhere) });
    expect(await jobOf(env, older.id).reseal()).toEqual({ ok: true, value: true });
    expect(await jobOf(env, older.id).reseal()).toEqual({ ok: true, value: false });
    expect(await jobOf(env, lost.id).reseal()).toMatchObject({ ok: false, error: { code: "sealing_key_missing" } });
    expect(await jobOf(env, "AAAAAAAAAAAAAA").reseal()).toEqual({ ok: true, value: false });
  });

  it.each([{ cursor: "x" }, { cursor: "jobs:../" }, { cursor: 5 }, { next: "" }])(
    "rejects the invalid place to continue in %j",
    async (body) => {
      const refused = await admin("/reseal", body);
      expect([refused.status, refused.body.error_code]).toEqual([400, "request_not_valid"]);
    },
  );
});
