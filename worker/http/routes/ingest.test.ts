import { exports } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { basic, jobBody, newAccount, SECRET_KEY, send } from "../../testing/jobs.ts";
import { CERTIFICATE, signLikeSns } from "../../testing/sns-certificate.ts";

let account: Awaited<ReturnType<typeof newAccount>>;
let url: string;
const ask = (method: string, path: string, body?: unknown) =>
  send(`/v2${path}`, { method, body, headers: basic(account.key) });

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
  account = await newAccount();
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
    const own = { ...TEMPLATE.input, bucket: "clips" };
    await ask("PUT", "/templates/web", { ...TEMPLATE, storage: { ...own, path: "out" } });
    expect((await deliver({ Records: [created("in/a.mov")] })).body.jobs).toHaveLength(1);
    await ask("PUT", "/templates/web", { ...TEMPLATE, storage: { ...own, bucket: "encoded" }, ingest: {} });
    expect((await deliver({ Records: [created("in/b.mov")] })).body.jobs).toHaveLength(1);
  });

  it("answers the handshakes of Event Grid", async () => {
    const data = { validationCode: "512d38b6" };
    const validation = [{ eventType: "Microsoft.EventGrid.SubscriptionValidationEvent", data }];
    expect(await deliver(validation)).toMatchObject({ status: 200, body: { validationResponse: "512d38b6" } });
    const headers = { "webhook-request-origin": "eventgrid.azure.net" };
    const asked = await exports.default.fetch(new Request(`https://copra.test${url}`, { method: "OPTIONS", headers }));
    expect([asked.status, asked.headers.get("webhook-allowed-origin")]).toEqual([200, "eventgrid.azure.net"]);
  });

  it("reads the blob of an event in Azure with the credentials of the template", async () => {
    const input = { service: "azure", credentials: { account: "acc", api_key: btoa("key") } };
    await ask("PUT", "/templates/web", { ...TEMPLATE, input });
    const subject = "/blobServices/default/containers/clips/blobs/in/a.mov";
    const { body } = await deliver([{ eventType: "Microsoft.Storage.BlobCreated", subject, data: { eTag: "e" } }]);
    const { body: requested } = await ask("GET", `/jobs/${body.jobs[0]}/request`);
    expect(requested.request.input).toEqual({
      service: "azure",
      container: "clips",
      key: "in/a.mov",
    });
  });

  const rejected: [string, object | null, unknown, number, string][] = [
    ["a body that is no event", null, "text", 400, "event_not_valid"],
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
      {
        ...TEMPLATE,
        storage: { ...TEMPLATE.input, bucket: "clips", path: "in" },
        ingest,
      },
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
    expect(body.tokens).toEqual([{ id: expect.stringMatching(/^[0-9a-f]{16}$/), created_at: expect.any(String) }]);
    const path = `/templates/web/tokens/${body.tokens[0].id}`;
    expect((await ask("DELETE", path)).body).toEqual({ id: body.tokens[0].id, revoked: true });
    expect((await ask("DELETE", path)).status).toBe(404);
    expect((await deliver({ Records: [] })).status).toBe(401);
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
  const confirmation = {
    Type: "SubscriptionConfirmation",
    Message: "Confirm",
    Token: "t",
    SubscribeURL: SUBSCRIBE_URL,
    ...base,
  };

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
