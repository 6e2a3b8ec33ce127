import { exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { AlertBody } from "#shared/api/alerts.ts";
import { BatchBody } from "#shared/api/job-batch.ts";
import { BulkBody } from "#shared/api/job-lists.ts";
import { ReplayBody, TestBody } from "#shared/api/notification-requests.ts";
import { KeyBody, LimitsBody, NamedBody, NodeTokenBody, ResealBody } from "#shared/api/operator-requests.ts";
import { LinkBody, OnceBody } from "#shared/api/session.ts";
import { UploadLinkBody } from "#shared/api/upload-links.ts";
import { UploadBody } from "#shared/api/uploads.ts";
import { ERRORS } from "#shared/errors.ts";
import { NotificationPayload } from "#shared/job/notification-payload.ts";
import { parseJobRequest } from "#shared/request/job-request.ts";
import { ProbeBody } from "#shared/request/probe-request.ts";
import { JobChanges } from "#shared/request/settings-section.ts";
import { StorageBody } from "#shared/request/storage/storage-section.ts";
import { parseTemplate } from "#shared/template/template-body.ts";
import { ADMIN, basic, bearer, jobBody, newAccount, send } from "../../testing/jobs.ts";
import { app } from "../app.ts";
import { RESPONSES, type ResponseName } from "./components.ts";
import { openApiDocument } from "./document.ts";
import { PAYLOAD_EXAMPLES } from "./examples/payloads.ts";
import { OPERATIONS } from "./operations.ts";
import { COMMON_CODES, templatePath } from "./paths.ts";

describe("GET /v2/openapi.json", () => {
  it("returns the document to anyone, and 304 if it has not changed", async () => {
    const { status, headers, body } = await send("/v2/openapi.json");
    expect([status, headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
    expect(headers.get("cache-control")).toMatch(/^public, max-age=\d+$/);
    expect(body).toEqual(JSON.parse(JSON.stringify(openApiDocument())));
    const again = await exports.default.fetch(
      new Request("https://copra.test/v2/openapi.json", { headers: { "if-none-match": headers.get("etag") ?? "" } }),
    );
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  it("rejects POST requests for the document", async () => {
    const refused = await send("/v2/openapi.json", { method: "POST" });
    expect([refused.status, refused.body.error_code]).toEqual([405, "method_not_allowed"]);
  });
});

describe("OpenAPI document", () => {
  /** Routes outside the document: for nodes alone, at signed or secret addresses; the redirect from /; and pages. */
  const PRIVATE = [
    ...[
      /^OPTIONS \/v2\/ingest\//,
      /^\S+ \/v2\/nodes\//,
      /^PUT \/storage\//,
      /^GET \/storage\/uploads\//,
      /^\S+ \/v2\/links\//,
    ],
    ...[/^GET \/$/, /^GET \/(dashboard|assets|guides|docs)\//, /^GET \/llms(-full)?\.txt$/],
  ];
  const served = app.routes
    // Middleware, and responses to methods that a path does not have.
    .filter(({ method }) => method !== "ALL")
    .map(({ method, path }) => `${method} ${templatePath(path.replace(/\{.*?\}/g, ""))}`)
    .filter((route) => !PRIVATE.some((pattern) => pattern.test(route)));

  it("contains all public routes, and no other routes", () => {
    const named = OPERATIONS.map(({ method, path }) => `${method.toUpperCase()} ${templatePath(path)}`);
    // Hono serves HEAD by the routes of GET.
    const asServed = named.map((route) => route.replace(/^HEAD /, "GET "));
    expect([...new Set(asServed)].sort()).toEqual([...new Set(served)].sort());
    expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length);
  });

  it("contains all schemas that it refers to", () => {
    const { components } = openApiDocument();
    const refs = JSON.stringify(openApiDocument()).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g);
    const missing = [...refs].map(([, name = ""]) => name).filter((name) => !(name in components.schemas));
    expect(missing).toEqual([]);
  });

  it("contains all error codes of responses, with their HTTP status", () => {
    /** Error codes of nodes' reports, of the URLs of upload links, and of requests that match no operation. */
    const elsewhere = [
      ...["report_not_valid", "lease_superseded", "upload_not_allowed", "upload_gone"],
      ...["upload_link_ended", "upload_checksum_mismatch"],
      ...["route_not_found", "method_not_allowed"],
    ];
    const named = [...OPERATIONS.flatMap(({ codes }) => codes), ...Object.values(COMMON_CODES).flat()];
    const answering = Object.entries(ERRORS).filter(([, { http }]) => http !== null);
    expect([...new Set([...named, ...elsewhere])].sort()).toEqual(answering.map(([code]) => code).sort());
  });
});

describe("examples in the OpenAPI document", () => {
  const responses = OPERATIONS.flatMap(({ id, responses }) =>
    responses.flatMap(({ content }) =>
      content && "json" in content ? [[id, content.json, content.example] as const] : [],
    ),
  );
  it.each(responses)("the example response of %s matches the schema %s", (_, name, example) => {
    expect(RESPONSES[name].parse(example)).toEqual(example);
  });

  const BODIES = {
    NotificationTest: TestBody,
    Replay: ReplayBody,
    Named: NamedBody,
    NodeToken: NodeTokenBody,
    Limits: LimitsBody,
    KeyRestrictions: KeyBody,
    Reseal: ResealBody,
    NewAlert: AlertBody,
    Bulk: BulkBody,
    Batch: BatchBody,
    ChangedJob: JobChanges,
    NewProbe: ProbeBody,
    NewUpload: UploadBody,
    NewUploadLink: UploadLinkBody,
    Once: OnceBody,
    NewSessionLink: LinkBody,
    Storage: StorageBody,
  };
  const bodies = OPERATIONS.flatMap(({ id, body }) =>
    body ? Object.values(body.examples).map(({ summary, value }) => [id, summary, body.json, value] as const) : [],
  );
  it.each(bodies)("the parser accepts the example request of %s: %s", (_, _summary, name, value) => {
    const isTaken =
      name === "JobRequest"
        ? parseJobRequest(value, "none")
        : name === "NewTemplate"
          ? parseTemplate(value)
          : { ok: BODIES[name].safeParse(value).success };
    expect(isTaken).toMatchObject({ ok: true });
  });

  it.each(Object.entries(PAYLOAD_EXAMPLES))("the example notification %s matches its schema", (event, payload) => {
    expect(NotificationPayload.parse(payload)).toEqual(payload);
    expect(payload.event).toBe(event);
  });
});

describe("real responses", () => {
  let account: Awaited<ReturnType<typeof newAccount>>;
  let job: string;
  beforeAll(async () => {
    account = await newAccount();
    job = (await send("/v2/jobs", { method: "POST", body: jobBody(), headers: basic(account.key) })).body.id;
    await send(`/v2/jobs/${job}`, { method: "DELETE", headers: basic(account.key) });
  });

  const rows: [method: string, path: string, name: ResponseName][] = [
    ["POST", "/v2/jobs", "Job"],
    ["POST", "/v2/jobs?dry_run=true", "DryRunPlan"],
    ["GET", "/v2/jobs", "JobList"],
    ["GET", "/v2/jobs/counts", "JobCounts"],
    ["GET", "/v2/jobs/JOB", "Job"],
    ["GET", "/v2/jobs/JOB/tasks", "TaskList"],
    ["GET", "/v2/jobs/JOB/commands", "CommandList"],
    ["GET", "/v2/jobs/JOB/running", "RunningCommandList"],
    ["GET", "/v2/jobs/JOB/request", "RequestView"],
    ["GET", "/v2/jobs/JOB/queue", "QueueView"],
    ["GET", "/v2/jobs/JOB/notifications", "NotificationLog"],
    ["GET", "/v2/uploads", "UploadList"],
    ["PUT", "/v2/templates/web", "Template"],
    ["GET", "/v2/templates", "TemplateList"],
    ["GET", "/v2/storages", "SavedStorageList"],
    ["POST", "/v2/jobs/JOB/retry", "Job"],
    ["GET", "/v2/metadata/jobs/JOB", "JobMetadata"],
    ["GET", "/v2/metadata/jobs/JOB/input", "Error"],
    ["GET", "/v2/health", "Health"],
    ["GET", "/v2/health/ready", "Ready"],
    ["POST", "/v2/admin/accounts", "NewAccount"],
    ["GET", "/v2/admin/accounts", "AccountList"],
    ["POST", "/v2/admin/accounts/ACCOUNT/keys", "NewKey"],
    ["GET", "/v2/admin/accounts/ACCOUNT/keys", "KeyList"],
    ["POST", "/v2/admin/node-tokens", "NewNodeToken"],
    ["GET", "/v2/admin/node-tokens", "NodeTokenList"],
  ];
  const adminBody = (path: string): object =>
    path.endsWith("/keys") ? { scopes: ["jobs:read"], expires_at: "2100-01-01T00:00:00Z" } : { name: "test" };
  it.each(rows)("the real response of %s %s matches the schema %s", async (method, path, name) => {
    const isAdmin = path.startsWith("/v2/admin");
    const { body } = await send(path.replace("JOB", job).replace("ACCOUNT", account.id), {
      method,
      headers: isAdmin ? bearer(ADMIN) : basic(account.key),
      ...(method === "GET" ? {} : { body: isAdmin ? adminBody(path) : jobBody() }),
    });
    // Parsing drops fields that the schema does not name.
    expect(RESPONSES[name].parse(body)).toEqual(body);
  });
});
