import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import {
  ADMIN,
  basic,
  bearer,
  failedWith,
  jobBody,
  newAccount,
  newNodeToken,
  send,
  useAccount,
} from "../testing/jobs.ts";
import { fill, ROUTES } from "../testing/routes.ts";
import { app } from "./app.ts";

const account = useAccount();
let nodeToken: string;
beforeAll(async () => {
  nodeToken = await newNodeToken();
});

/** True for paths of the operator. */
const isOperators = (path: string): boolean => path.includes("/admin/") || /^(\/metrics|\/v2\/autoscale)$/.test(path);

const post = (body: unknown) => account.post("/v2/jobs", body);

describe("access", () => {
  const lease = "AAAAAAAAAAAAAA.encode.1";
  const values = {
    id: "AAAAAAAAAAAAAA",
    nid: "msg_1",
    key: "mp4:240p",
    lease,
    number: "1",
    name: "web",
    template: "web",
    token: "t",
  };
  const paths = ROUTES.filter(({ audience }) => audience !== "anyone").map((route): [string, string] => [
    route.method,
    fill(route, values),
  ]);
  it.each(paths)("%s %s requires the right credential", async (method, path) => {
    const wrong = isOperators(path) ? nodeToken : path.includes("/nodes/") ? account.key : ADMIN;
    for (const headers of [
      {},
      basic("k-wrong"),
      bearer("wrong"),
      basic(wrong),
      bearer(wrong),
      { authorization: "Basic %%%" },
    ]) {
      const { status, body, headers: sent } = await send(path, { method, headers: headers as Record<string, string> });
      expect([status, body.error_code, body.status]).toEqual([401, "authentication_failed", "error"]);
      const scheme = isOperators(path) || path.includes("/nodes/") ? /^Bearer / : /^Basic /;
      expect(sent.get("www-authenticate")).toMatch(scheme);
    }
  });

  it("lists only the jobs of the account", async () => {
    const { body: job } = await post(jobBody());
    const stranger = basic((await newAccount()).key);
    for (const path of [`/v2/jobs/${job.id}`, `/v2/metadata/jobs/${job.id}`, `/v2/metadata/jobs/${job.id}/input`]) {
      expect(await send(path, { headers: stranger })).toMatchObject(failedWith(404, "job_not_found"));
    }
  });
});

describe("all responses", () => {
  const authorized = (path: string) =>
    isOperators(path) ? bearer(ADMIN) : path.includes("/nodes/") ? bearer(nodeToken) : basic(account.key);
  const lease = "AAAAAAAAAAAAAA.encode.1";
  const values = {
    id: "AAAAAAAAAAAAAA",
    nid: "msg_1",
    key: "input",
    lease,
    path: "a.mp4",
    number: "1",
    name: "web",
    template: "web",
    file: "a.md",
    page: "api-v2",
    token: "x",
    upload: "x",
  };
  it.each(ROUTES.map((route): [string, string] => [route.method, fill(route, { ...values, job: values.id })]))(
    "%s %s keeps its content type, and no shared cache stores JSON",
    async (method, path) => {
      const request = new Request(`https://copra.test${path}`, { method, headers: authorized(path) });
      const { status, headers } = await exports.default.fetch(request);
      expect([status, headers.get("x-content-type-options")]).toEqual([status, "nosniff"]);
      const type = headers.get("content-type") ?? "";
      const stored = status === 200 && path === "/v2/jobs" ? "private, no-cache" : "no-store";
      const cached = type.startsWith("application/json") ? stored : headers.get("cache-control");
      const isOpen = path === "/docs" || path === "/v2/openapi.json";
      expect(headers.get("cache-control")).toBe(isOpen ? "public, max-age=300" : cached);
    },
  );

  it("responds without delay despite a slow unread body", async () => {
    const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(3)) });
    expect((await app.request("/v2/jobs", { method: "POST", body }, env)).status).toBe(401);
  });
});

describe("unknown paths and methods", () => {
  const rows: [string, string, number, string][] = [
    ["GET", "/v2/jobs/AAAAAAAAAAAAAA", 404, "job_not_found"],
    ["GET", "/v2/jobs/..%2f..", 404, "job_not_found"],
    ["GET", "/v2/metadata/jobs/AAAAAAAAAAAAAA", 404, "job_not_found"],
    ["GET", "/v2/nothing", 404, "route_not_found"],
    ["GET", "/", 404, "route_not_found"],
  ];
  it.each(rows)("%s %s returns %i %s", async (method, path, status, code) => {
    const answer = await account.request(method, path);
    expect([answer.status, answer.body.error_code]).toEqual([status, code]);
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  it.each([
    ["/v1/jobs", "There is no resource at /v1/jobs; did you mean /v2/jobs?"],
    ["/jobs/AAAAAAAAAAAAAA", "There is no resource at /jobs/AAAAAAAAAAAAAA; did you mean /v2/jobs/AAAAAAAAAAAAAA?"],
    ["/v1/nothing", "There is no resource at /v1/nothing"],
  ])("explains that the paths of the API start with /v2: %s", async (path, message) => {
    expect((await account.get(path)).body.message).toBe(message);
  });

  it.each([
    ["PUT", "/v2/jobs", "GET, HEAD, POST"],
    ["PUT", "/v2/jobs/", "GET, HEAD, POST"],
    ["PUT", "/v2/jobs/AAAAAAAAAAAAAA", "DELETE, GET, HEAD, PATCH"],
    ["POST", "/v2/jobs/AAAAAAAAAAAAAA/events", "GET, HEAD"],
    ["GET", "/v2/jobs/AAAAAAAAAAAAAA/retry", "POST"],
    ["POST", "/v2/metadata/jobs/AAAAAAAAAAAAAA", "GET, HEAD"],
    ["DELETE", "/v2/metadata/jobs/AAAAAAAAAAAAAA/mp4:240p", "GET, HEAD"],
    ["POST", "/v2/usage", "GET, HEAD"],
    ["DELETE", "/v2/events", "GET, HEAD"],
    ["POST", "/v2/health", "GET, HEAD"],
    ["POST", "/docs", "GET, HEAD"],
    ["DELETE", "/storage/AAAAAAAAAAAAAA/a/b.mp4", "GET, HEAD, PUT"],
    ["PUT", "/v2/admin/accounts", "GET, HEAD, POST"],
    ["GET", "/v2/admin/keys/000000000000", "DELETE"],
    ["GET", "/v2/admin/nodes/attic/drain", "POST"],
    ["POST", "/v2/autoscale", "GET, HEAD"],
    ["POST", "/metrics", "GET, HEAD"],
    ["GET", "/v2/nodes/leases/AAAAAAAAAAAAAA.encode.1/fail", "POST"],
  ])("%s %s returns the supported methods: %s", async (method, path, methods) => {
    const credential = isOperators(path) ? bearer(ADMIN) : path.includes("/nodes/") ? bearer(nodeToken) : null;
    const answer = await send(path, { method, headers: credential ?? basic(account.key) });
    expect([answer.status, answer.body.error_code]).toEqual([405, "method_not_allowed"]);
    expect(answer.headers.get("allow")).toBe(methods);
  });
});

describe("GET /v2/metadata/jobs", () => {
  it("returns data from creation on, and 404 for an unknown key", async () => {
    const { body: job } = await post(jobBody());
    const all = await account.get(`/v2/metadata/jobs/${job.id}`);
    expect(all).toMatchObject({ status: 200, body: { job_id: job.id, metadata: { input: {}, outputs: [] } } });
    for (const key of ["input", "source", "mp4:240p", "toString"]) {
      const one = await account.get(`/v2/metadata/jobs/${job.id}/${key}`);
      expect([one.status, one.body.error_code]).toEqual([404, "metadata_not_found"]);
    }
  });
});

describe("invalid reports of nodes", () => {
  const LOST = { code: "node_lost", message: "m" };
  const ENDED = { kind: "encode", outputs: [{ status: "failed", output: 0, failure: LOST }] };
  const [FAIL, UPLOADS] = ["fail", "uploads"].map((verb) => `AAAAAAAAAAAAAA.encode.1/${verb}`) as [string, string];
  const rows: [string, string, unknown, number, string][] = [
    ["no lease id", "nonsense/complete", { token: "t", result: ENDED }, 400, "report_not_valid"],
    ["an unknown job", FAIL, { token: "t", failure: LOST }, 409, "lease_superseded"],
    ["an unknown error code", FAIL, { token: "t", failure: { ...LOST, code: "oops" } }, 400, "report_not_valid"],
    ["no token", UPLOADS, { files: [{ output: 0, file: 1, sizeBytes: 1 }] }, 400, "report_not_valid"],
  ];
  it.each(rows)("rejects a report with %s", async (_, path, body, status, code) => {
    const answer = await send(`/v2/nodes/leases/${path}`, { method: "POST", body, headers: bearer(nodeToken) });
    expect([answer.status, answer.body.error_code]).toEqual([status, code]);
  });

  it("rejects a request without a WebSocket upgrade", async () => {
    const answer = await send("/v2/nodes/connect", { headers: bearer(nodeToken) });
    expect(answer).toMatchObject(failedWith(400, "report_not_valid"));
  });
});

describe("GET /v2/health", () => {
  it("requires no key", async () => {
    expect(await send("/v2/health")).toMatchObject({ status: 200, body: { status: "ok", nodes: 0 } });
  });
});
