import { exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { ErrorBody } from "#shared/api/job-responses.ts";
import { ERRORS } from "#shared/errors.ts";
import { NotificationPayload } from "#shared/job/notification-payload.ts";
import { parseJobRequest } from "#shared/request/job-request.ts";
import { parseStorage } from "#shared/request/storage/storage-section.ts";
import { parseTemplate } from "#shared/template/template-body.ts";
import { ADMIN, basic, bearer, jobBody, send, useAccount } from "../../testing/jobs.ts";
import { fill, ROUTES } from "../../testing/routes.ts";
import { PAYLOAD_EXAMPLES } from "../operation/examples/payloads.ts";
import { routeParts } from "../operation/operation.ts";
import { openApiDocument } from "./document.ts";
import { OPERATIONS } from "./operations.ts";
import { codesOf, exampleOf } from "./paths.ts";

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

const served = new Set(ROUTES.map(({ method, path }) => `${method} ${path}`));

describe("OpenAPI document", () => {
  it("describes each operation that the app serves, under an id of its own", () => {
    // Hono serves HEAD by the routes of GET.
    const missing = OPERATIONS.filter(({ route }) => !served.has(route.replace(/^HEAD /, "GET ")));
    expect(missing).toEqual([]);
    expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length);
  });

  it("describes each parameter", () => {
    const operations = Object.values(openApiDocument().paths).flatMap((methods) => Object.values(methods));
    const without = operations.flatMap(({ summary, parameters = [] }) =>
      parameters.flatMap(({ name, description, schema }) =>
        description || "description" in schema ? [] : `${summary}: ${name}`,
      ),
    );
    expect(without).toEqual([]);
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
    const named = OPERATIONS.flatMap(codesOf);
    const answering = Object.entries(ERRORS).filter(([, { http }]) => http !== null);
    expect([...new Set([...named, ...elsewhere])].sort()).toEqual(answering.map(([code]) => code).sort());
  });
});

describe("examples in the OpenAPI document", () => {
  const responses = OPERATIONS.flatMap(({ id, responses }) =>
    responses.flatMap(({ status, content }) => (content && "json" in content ? [{ id, status, content }] : [])),
  );
  it.each(responses)("the example response $status of $id matches its schema", ({ content }) => {
    expect(content.json.parse(exampleOf(content))).toEqual(exampleOf(content));
  });

  const PARSERS = {
    JobRequest: (value: unknown) => parseJobRequest(value, "none").ok,
    NewTemplate: (value: unknown) => parseTemplate(value).ok,
    Storage: (value: unknown) => parseStorage(value, "none").ok,
  };
  const bodies = OPERATIONS.flatMap(({ id, body }) =>
    body ? Object.values(body.examples).map(({ summary, value }) => ({ id, summary, schema: body.json, value })) : [],
  );
  it.each(bodies)("the parser accepts the example request of $id: $summary", ({ schema, value }) => {
    expect(typeof schema === "string" ? PARSERS[schema](value) : schema.safeParse(value).success).toBe(true);
  });

  it.each(Object.entries(PAYLOAD_EXAMPLES))("the example notification %s matches its schema", (event, payload) => {
    expect(NotificationPayload.parse(payload)).toEqual(payload);
    expect(payload.event).toBe(event);
  });
});

describe("real responses", () => {
  const account = useAccount();
  let job: string;
  beforeAll(async () => {
    job = (await account.post("/v2/jobs", jobBody())).body.id;
    await account.delete(`/v2/jobs/${job}`);
  });

  /** Ids of operations, some with a query. */
  const rows = [
    ...["createJob", "createJob?dry_run=true", "listJobs", "countJobs", "getJob", "getJobTasks", "getJobCommands"],
    ...["getJobRunningCommands", "getJobRequest", "getJobQueue", "listNotifications", "listUploads", "putTemplate"],
    ...["listTemplates", "listStorages", "retryJob", "getJobMetadata", "getKeyMetadata", "health", "ready"],
    ...["createAccount", "listAccounts", "createKey", "listKeys", "createNodeToken", "listNodeTokens"],
  ];
  const adminBody = (id: string): object =>
    id === "createKey" ? { scopes: ["jobs:read"], expires_at: "2100-01-01T00:00:00Z" } : { name: "test" };
  it.each(rows)("the real response of %s matches the schema of its status", async (row) => {
    const [id = "", query = ""] = row.split(/(?=\?)/);
    const operation = OPERATIONS.find((operation) => operation.id === id);
    const [method, path] = routeParts(operation?.route ?? "GET /");
    const isAdmin = operation?.access === "operator";
    const values = { id: isAdmin ? account.id : job, name: "web", key: "input" };
    const { status, body } = await send(fill({ path }, values) + query, {
      method,
      headers: isAdmin ? bearer(ADMIN) : basic(account.key),
      ...(method === "GET" ? {} : { body: isAdmin ? adminBody(id) : jobBody() }),
    });
    const content = operation?.responses.find((response) => response.status === status)?.content;
    const schema = content && "json" in content ? content.json : ErrorBody;
    expect(status < 300).toBe(schema !== ErrorBody);
    // Parsing drops fields that the schema does not name.
    expect(schema.parse(body)).toEqual(body);
  });
});
