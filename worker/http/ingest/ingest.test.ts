import { env, exports } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { basic, jobBody, newAccount, operator, SECRET_KEY, send, useAccount } from "../../testing/jobs.ts";
import { measuredDatabase } from "../../testing/measured-database.ts";
import { CERTIFICATE, signLikeSns } from "../../testing/sns-certificate.ts";
import { app } from "../app.ts";

const account = useAccount(beforeEach);
let url: string;
const ask = (method: string, path: string, body?: unknown) => account.request(method, `/v2${path}`, body);

const { storage, notification } = jobBody();
const credentials = { access_key_id: "AKID", secret_access_key: SECRET_KEY };
const TEMPLATE = {
  input: { service: "s3other", endpoint: "https://s3.example.com", region: "us-east-1", credentials },
  storage,
  notification,
  outputs: { mp4: { path: "{{ vars.bucket }}/{{ vars.stem }}.mp4" } },
  ingest: { prefix: "in/", suffix: [".mov", ".mp4"] },
};

beforeEach(async () => {
  await ask("PUT", "/templates/web", TEMPLATE);
  const { body } = await ask("POST", "/templates/web/tokens");
  url = body.url.replace("https://copra.test", "");
});
afterEach(() => vi.restoreAllMocks());

const deliver = (body: unknown, path = url) => send(path, { method: "POST", body });
const created = (key: string, sequencer = "1") => ({
  eventName: "ObjectCreated:Put",
  s3: { bucket: { name: "clips" }, object: { key, sequencer, eTag: "e" } },
});

describe("POST /v2/ingest/:template/:token", () => {
  it("creates a job for each version of each wanted object, once", async () => {
    const events = { Records: [created("in/a+b.mov"), created("in/c.txt"), created("out/d.mov"), created("in/e.mp4")] };
    const { status, body } = await deliver(events);
    expect([status, body.jobs.length, body.ignored]).toEqual([200, 2, 2]);
    const removed = { ...created("in/f.mov"), eventName: "ObjectRemoved:Delete" };
    for (const nothing of [{ Records: [removed] }, { Service: "Amazon S3", Event: "s3:TestEvent" }]) {
      expect(await deliver(nothing)).toMatchObject({ status: 200, body: { jobs: [], ignored: 1 } });
    }
    const { body: requested } = await ask("GET", `/jobs/${body.jobs[0]}/request`);
    expect(requested).toMatchObject({
      request: {
        input: { service: "s3other", bucket: "clips", key: "in/a b.mov" },
        outputs: { mp4: { path: "clips/a b.mp4" } },
      },
      left_out: expect.arrayContaining(["input.credentials", "storage.credentials"]),
    });
    expect((await ask("GET", `/jobs/${body.jobs[0]}`)).body.template).toBe("web@1");
    // Another version of the template, as between two deliveries of a service.
    await ask("PUT", "/templates/web", { ...TEMPLATE, settings: { priority: 5 } });
    expect((await deliver(events)).body).toEqual(body);
    const { body: again } = await deliver({ Records: [created("in/a+b.mov", "2")] });
    expect(body.jobs).not.toContain(again.jobs[0]);
    expect((await ask("GET", "/jobs")).body.jobs).toHaveLength(3);
  });

  it("creates jobs whose outputs are in the same bucket and do not pass the filters", async () => {
    const input = { ...TEMPLATE.input, bucket: "clips" };
    await ask("PUT", "/templates/web", { ...TEMPLATE, storage: { ...input, path: "out" } });
    expect((await deliver({ Records: [created("in/a.mov")] })).body.jobs).toHaveLength(1);
    await ask("PUT", "/templates/web", { ...TEMPLATE, storage: { ...input, bucket: "encoded" }, ingest: {} });
    expect((await deliver({ Records: [created("in/b.mov")] })).body.jobs).toHaveLength(1);
  });

  it("answers the handshakes of Event Grid", async () => {
    const data = { validationCode: "512d38b6" };
    const validation = [{ eventType: "Microsoft.EventGrid.SubscriptionValidationEvent", data }];
    expect(await deliver(validation)).toMatchObject({ status: 200, body: { validationResponse: "512d38b6" } });
    const headers = { "webhook-request-origin": "eventgrid.azure.net" };
    const preflight = await exports.default.fetch(
      new Request(`https://copra.test${url}`, { method: "OPTIONS", headers }),
    );
    expect([preflight.status, preflight.headers.get("webhook-allowed-origin")]).toEqual([200, "eventgrid.azure.net"]);
  });

  it("reads the blob of an event in Azure with the credentials of the template", async () => {
    const input = { service: "azure", credentials: { account: "acc", api_key: btoa("key") } };
    await ask("PUT", "/templates/web", { ...TEMPLATE, input });
    const subject = "/blobServices/default/containers/clips/blobs/in/a.mov";
    const { body } = await deliver([{ eventType: "Microsoft.Storage.BlobCreated", subject, data: { eTag: "e" } }]);
    const { body: requested } = await ask("GET", `/jobs/${body.jobs[0]}/request`);
    expect(requested.request.input).toEqual({ service: "azure", container: "clips", key: "in/a.mov" });
  });

  const thumbnails = { jpg: { path: "%d.jpg", number: 3 } };
  const hls = (path: string) => ({ httpstream: { hls: { path }, variants: ["mp4:240p"] } });
  const loops: [string, object, object, object][] = [
    ["the second of several images", {}, thumbnails, { prefix: "in/", suffix: [".mp4", "2.jpg"] }],
    ["a number that the prefix begins", {}, thumbnails, { prefix: ["in/a", "in/2"] }],
    ["segments of a stream", {}, hls("hls"), { prefix: "in/", suffix: [".ts", ".mp4"] }],
    ["another name of the server", { endpoint: "https://127.0.0.1" }, { mp4: { path: "b.mp4" } }, {}],
  ];
  it.each<[string, object, object, object]>([
    ["images", { path: "out" }, thumbnails, { prefix: "in/" }],
    ["images that end otherwise", { path: "in" }, thumbnails, { suffix: [".mp4", "a2.jpg"] }],
    ["streams", { path: "" }, hls("out"), { suffix: [".mov", ".mp4"] }],
    ["another bucket of the server", { bucket: "other" }, { mp4: { path: "b.mp4" } }, {}],
    [
      "a server with another key",
      { endpoint: "https://s3.example.org", credentials: { access_key_id: "B", secret_access_key: "s" } },
      { mp4: { path: "b.mp4" } },
      {},
    ],
  ])("creates a job without a loop for %s", async (_, storage, outputs, ingest) => {
    const at = { ...TEMPLATE.input, bucket: "clips", ...storage };
    const put = await ask("PUT", "/templates/web", { ...TEMPLATE, storage: at, outputs, ingest });
    expect(put.status).toBe(200);
    expect(await deliver({ Records: [created("in/a.mp4")] })).toMatchObject({ status: 200, body: { ignored: 0 } });
  });

  it("creates no more jobs than the limit of its account, in any number of deliveries", async () => {
    await env.DB.prepare("UPDATE accounts SET max_unfinished_jobs = 40 WHERE id = ?").bind(account.id).run();
    const { db, work } = measuredDatabase(env.DB);
    const post = (name: string) => {
      const records = Array.from({ length: 100 }, (_, at) => created(`in/${name}-${at}.mov`));
      const body = JSON.stringify({ Records: records });
      return app.request(url, { method: "POST", body }, { ...env, DB: db });
    };
    const statuses = await Promise.all(Array.from({ length: 30 }, async (_, at) => (await post(`${at}`)).status));
    expect(new Set(statuses)).toEqual(new Set([429]));
    expect(
      await env.DB.prepare("SELECT count(*) AS n FROM jobs WHERE account_id = ?").bind(account.id).first("n"),
    ).toBe(40);
    // The other deliveries are refused before any work: a look for the token, and a few statements of the others.
    expect(work.calls).toBeLessThan(30 + 20);
    const other = await newAccount();
    expect((await other.post("/v2/jobs", jobBody())).status).toBe(201);
  });

  const rejected: [string, object | null, unknown, number, string][] = [
    ...["text", {}, { hello: 1 }, [{ Bucket: "clips" }]].map((body): (typeof rejected)[number] => [
      `${JSON.stringify(body)}, which is no event`,
      null,
      body,
      400,
      "event_not_valid",
    ]),
    ["too many events", null, { Records: Array(101).fill(created("in/a.mov")) }, 400, "event_not_valid"],
    [
      "another bucket than the template's",
      { ...TEMPLATE, input: { ...TEMPLATE.input, bucket: "own" } },
      { Records: [created("in/a.mov")] },
      400,
      "event_not_valid",
    ],
    ...[{}, { prefix: "in/", suffix: ".mp4" }].map((ingest): (typeof rejected)[number] => [
      `an output that would start the next job, with the filters ${JSON.stringify(ingest)}`,
      { ...TEMPLATE, storage: { ...TEMPLATE.input, bucket: "clips", path: "in" }, ingest },
      { Records: [created("in/a.mp4")] },
      400,
      "event_not_valid",
    ]),
    ...loops.map(([what, storage, outputs, ingest]): (typeof rejected)[number] => [
      `a loop through ${what}`,
      { ...TEMPLATE, storage: { ...TEMPLATE.input, bucket: "clips", path: "in", ...storage }, outputs, ingest },
      { Records: [created("in/a.mp4")] },
      400,
      "event_not_valid",
    ]),
    [
      "a template without storage",
      { ...TEMPLATE, storage: {} },
      { Records: [created("in/a.mov")] },
      400,
      "storage_service_not_valid",
    ],
    [
      "a variable without a value",
      { ...TEMPLATE, settings: { priority: "{{ vars.priority }}" } },
      { Records: [created("in/a.mov")] },
      400,
      "template_vars_not_valid",
    ],
  ];
  it.each(rejected)("is refused with %s", async (_, template, body, status, code) => {
    if (template) await ask("PUT", "/templates/web", template);
    expect(await deliver(body)).toMatchObject({ status, body: { error_code: code } });
    expect((await ask("GET", "/jobs")).body.jobs).toEqual([]);
  });

  it("needs the token of the template, until it is revoked", async () => {
    const unknown = url.replace(/.$/, (last) => (last === "a" ? "b" : "a"));
    for (const path of [unknown, url.replace("web", "other")]) {
      expect((await deliver({ Records: [] }, path)).body.error_code).toBe("authentication_failed");
    }
    const { body } = await ask("GET", "/templates/web/tokens");
    expect(body.tokens).toEqual([
      { id: expect.stringMatching(/^[0-9a-f]{16}$/), created_at: expect.any(String), expires_at: null },
    ]);
    const path = `/templates/web/tokens/${body.tokens[0].id}`;
    expect((await ask("DELETE", path)).body).toEqual({ id: body.tokens[0].id, revoked: true });
    expect((await ask("DELETE", path)).status).toBe(404);
    expect((await deliver({ Records: [] })).status).toBe(401);
  });

  it("names the API key that made it as the creator of its jobs, and ends with the key", async () => {
    const end = Date.now() + 3_600_000;
    const path = `/v2/admin/accounts/${account.id}/keys`;
    const body = { expires_at: new Date(end).toISOString() };
    const { body: key } = await operator.post(path, body);
    const tokens = () => send("/v2/templates/web/tokens", { method: "POST", headers: basic(key.api_key) });
    const newTokens = [(await tokens()).body, (await tokens()).body];
    const [first, second] = newTokens.map(({ url: newTokens }) => newTokens.replace("https://copra.test", ""));
    expect(newTokens[0].expires_at).toMatch(/^\d{4}-/);
    const { body: delivered } = await deliver({ Records: [created("in/a.mov")] }, first);
    const { body: audit } = await ask("GET", `/audit?action=createJob&actor=${key.id}`);
    expect(audit.entries).toMatchObject([{ object: `jobs/${delivered.jobs[0]}` }]);
    vi.useFakeTimers({ toFake: ["Date"], now: end });
    expect((await deliver([], first)).status).toBe(401);
    vi.useRealTimers();
    expect((await deliver([], second)).status).toBe(200);
    await operator.delete(`/v2/admin/keys/${key.id}`);
    expect((await deliver([], second)).status).toBe(401);
    expect((await deliver([])).status).toBe(200);
  });

  it("ends with its template, and has at most ten tokens", async () => {
    for (let tokens = 2; tokens <= 10; tokens++) expect((await ask("POST", "/templates/web/tokens")).status).toBe(201);
    expect((await ask("POST", "/templates/web/tokens")).body.error_code).toBe("too_many_tokens");
    await ask("DELETE", "/templates/web");
    expect((await deliver({ Records: [] })).status).toBe(401);
    expect((await ask("POST", "/templates/web/tokens")).status).toBe(404);
  });
});

describe("messages of Amazon SNS", () => {
  const CERT_URL = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem";
  const SUBSCRIBE_URL = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=arn&Token=t";
  const base = {
    MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    TopicArn: "arn:aws:sns:eu-west-1:123456789012:clips",
    Timestamp: "2026-11-28T04:37:04.321Z",
    SigningCertURL: CERT_URL,
  };
  const notification = (subject?: string) => ({
    Type: "Notification",
    Message: JSON.stringify({ Records: [created("in/a.mov")] }),
    ...(subject === undefined ? {} : { Subject: subject }),
    ...base,
  });
  const TOKEN = { Message: "Confirm", Token: "t", SubscribeURL: SUBSCRIBE_URL };
  const confirmation = { Type: "SubscriptionConfirmation", ...TOKEN, ...base };

  /** Signs the documented fields, in the order of their names. */
  async function signed(message: Record<string, string>, version: "1" | "2" = "1") {
    const fields = Object.entries(message).filter(([name]) => name !== "SigningCertURL");
    const text = fields
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, value]) => `${name}\n${value}\n`);
    return { ...message, SignatureVersion: version, Signature: await signLikeSns(text.join(""), version) };
  }

  let visited: string[];
  beforeEach(() => {
    visited = [];
    vi.spyOn(globalThis, "fetch").mockImplementation(async (request) => {
      const { url } = request as Request;
      visited.push(url);
      return new Response(url === CERT_URL ? CERTIFICATE : "");
    });
  });
  const ofSns = () => visited.filter((url) => url.includes("sns."));

  it.each(["1", "2"] as const)("with a valid signature of version %s create jobs", async (version) => {
    for (const message of [notification(), notification("Amazon S3 Notification")]) {
      const { status, body } = await deliver(await signed(message, version));
      expect([status, body.jobs.length]).toEqual([200, 1]);
    }
  });

  it("confirm a subscription", async () => {
    expect(await deliver(await signed(confirmation))).toMatchObject({ status: 200, body: { jobs: [] } });
    expect(ofSns()).toEqual([CERT_URL, SUBSCRIBE_URL]);
  });

  const evil = "https://sns.eu-west-1.amazonaws.com.evil.example/SimpleNotificationService-0.pem";
  const wrong: [string, (message: Awaited<ReturnType<typeof signed>>) => object, string[]][] = [
    ["another text", (message) => ({ ...message, Message: '{"Records":[]}' }), [CERT_URL]],
    ["another topic", (message) => ({ ...message, TopicArn: "arn:aws:sns:eu-west-1:1:other" }), [CERT_URL]],
    ["a signature of another version", (message) => ({ ...message, SignatureVersion: "2" }), [CERT_URL]],
    ["a certificate of another host", (message) => ({ ...message, SigningCertURL: evil }), []],
    ["another type", (message) => ({ ...message, Type: "Other" }), []],
    ["no signature", ({ Signature: _, ...message }) => message, []],
  ];
  it.each(wrong)("are refused with %s", async (_, change, requests) => {
    const answer = await deliver(change(await signed(notification())));
    expect(answer).toMatchObject({ status: 400, body: { error_code: "event_not_valid" } });
    expect(ofSns()).toEqual(requests);
  });

  it("never visit a URL of another host to confirm a subscription", async () => {
    const message = { ...confirmation, SubscribeURL: "https://evil.example/?Action=ConfirmSubscription&" };
    expect((await deliver(await signed(message))).body.error_code).toBe("event_not_valid");
    expect(visited).toEqual([]);
  });

  it("are delivered again when the certificate cannot be fetched", async () => {
    vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response("", { status: 500 }));
    expect((await deliver(await signed(notification()))).status).toBe(503);
  });
});
