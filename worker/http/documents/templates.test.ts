import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { basic, jobBody, NOWHERE, newAccount, SECRET_KEY, send, useAccount } from "../../testing/jobs.ts";

const account = useAccount();

type Options = { headers?: Record<string, string>; key?: string };
const ask = (method: string, path: string, body?: unknown, { headers = {}, key = account.key }: Options = {}) =>
  send(`/v2${path}`, { method, body, headers: { ...basic(key), ...headers } });
const put = (name: string, body: unknown, options?: Options) => ask("PUT", `/templates/${name}`, body, options);

const { storage, notification } = jobBody();
const TEMPLATE = {
  storage,
  notification,
  outputs: { "mp4:240p": { path: "/{{ vars.id }}/240p.mp4", duration: "{{ vars.seconds }}" } },
};
const job = (changes: object) => ({ input: { url: "https://media.example.com/video.mp4" }, ...changes });

describe("/v2/templates", () => {
  it("stores a version with each PUT, and returns versions without their secrets", async () => {
    const created = await put("web", TEMPLATE);
    expect([created.status, created.headers.get("etag")]).toEqual([201, '"1"']);
    expect(created.body).toMatchObject({
      name: "web",
      version: 1,
      created_at: expect.stringMatching(/ \+0000$/),
      variables: ["id", "seconds"],
      left_out: ["storage.credentials"],
      versions: [1],
      template: { outputs: TEMPLATE.outputs, storage: { bucket: "bucket" } },
    });
    const second = await put("web", { ...TEMPLATE, settings: { priority: 5 } });
    expect([second.status, second.body.version]).toEqual([200, 2]);
    const newest = await ask("GET", "/templates/web");
    expect(newest.body).toEqual(second.body);
    expect((await ask("GET", "/templates/web@1")).body).toEqual({ ...created.body, versions: [2, 1] });
    await put("archive", { storage: { use: "archive" } });
    const { body: list } = await ask("GET", "/templates");
    const contents = { outputs: Object.keys(TEMPLATE.outputs), variables: ["id", "seconds"], saved_storage: null };
    const created_at = expect.stringMatching(/ \+0000$/);
    expect(list.templates).toEqual([
      { name: "archive", version: 1, created_at, outputs: [], variables: [], saved_storage: "archive" },
      { name: "web", version: 2, created_at, ...contents },
    ]);
    expect(JSON.stringify([created, second, newest, list])).not.toContain(SECRET_KEY);
    const stored = await env.DB.prepare("SELECT * FROM templates").all();
    expect(JSON.stringify(stored.results)).not.toContain(SECRET_KEY);
  });

  it("keeps the 20 newest versions", async () => {
    for (let version = 1; version <= 22; version++) await put("many", {});
    const { body } = await ask("GET", "/templates/many");
    expect(body.versions).toEqual(Array.from({ length: 20 }, (_, at) => 22 - at));
    expect((await ask("GET", "/templates/many@2")).body.error_code).toBe("template_not_found");
  });

  it("changes a template only if its version is the expected one", async () => {
    const rows: [header: Record<string, string>, status: number][] = [
      [{ "if-match": "*" }, 412],
      [{ "if-match": '"1"' }, 412],
      [{ "if-none-match": "*" }, 201],
      [{ "if-none-match": "*" }, 412],
      [{ "if-match": '"1"' }, 200],
      [{ "if-match": '"1"' }, 412],
      [{ "if-match": '"x"' }, 412],
      [{ "if-match": "*" }, 200],
    ];
    for (const [headers, status] of rows)
      expect((await put("guarded", {}, { headers })).status, JSON.stringify(headers)).toBe(status);
    expect((await ask("DELETE", "/templates/guarded", undefined, { headers: { "if-match": '"2"' } })).status).toBe(412);
    expect((await ask("DELETE", "/templates/guarded@3")).status).toBe(404);
    const deleted = await ask("DELETE", "/templates/guarded", undefined, { headers: { "if-match": '"3"' } });
    expect(deleted).toMatchObject({ status: 200, body: { name: "guarded", version: 3 } });
    expect((await ask("GET", "/templates/guarded")).status).toBe(404);
  });

  it("keeps secrets of the newest version on request", async () => {
    const { body: first } = await put("kept", { ...TEMPLATE, outputs: {} });
    const { body: second } = await put("kept?keep_secrets=true", { ...first.template, settings: { priority: 1 } });
    const template = { settings: { priority: 1 } };
    expect(second).toMatchObject({ version: 2, left_out: ["storage.credentials"], template });
    const { body: third } = await put("kept", second.template);
    expect(third.left_out).toEqual([]);
  });

  it("refuses names, bodies and numbers of templates beyond the limits", async () => {
    expect((await put("a%20b", {})).body).toMatchObject({ error_code: "template_not_valid" });
    expect((await put("big", { settings: { a: "a".repeat(65_536) } })).body).toMatchObject({
      error_code: "body_too_large",
    });
    expect((await put("bad", { colour: 1 })).body.message).toContain("`colour`");
    const other = await newAccount();
    const rows = Array.from({ length: 200 }, (_, at) => `('${other.id}', 't${at}', 1, 0, '')`);
    for (let at = 0; at < 200; at += 100) {
      const values = rows.slice(at, at + 100).join();
      await env.DB.prepare(
        `INSERT INTO templates (account_id, name, version, created_at, sealed) VALUES ${values}`,
      ).run();
    }
    expect((await put("t200", {}, { key: other.key })).body).toMatchObject({ error_code: "too_many_templates" });
    expect((await put("t0", {}, { key: other.key })).status).toBe(200);
    // Saved storages have a limit of their own.
    const headers = basic(other.key);
    expect((await send("/v2/storages/archive", { method: "PUT", body: NOWHERE, headers })).status).toBe(201);
  });

  it("hides templates from other accounts", async () => {
    await put("mine", {});
    const { key } = await newAccount();
    for (const method of ["GET", "DELETE"])
      expect((await ask(method, "/templates/mine", undefined, { key })).status).toBe(404);
    const { body } = await ask("POST", "/jobs", job({ template: "mine" }), { key });
    expect(body).toMatchObject({ error_code: "template_not_found", message: expect.stringContaining("`mine`") });
  });
});

describe("a job with a template", () => {
  const vars = { id: "a1", seconds: 3 };

  it("is the template with the values of its variables and the sections of the request", async () => {
    await put("web", TEMPLATE);
    const { body: pinned } = await put("web", TEMPLATE);
    await put("web", { ...TEMPLATE, outputs: {} });
    const settings = { priority: 7 };
    const created = await ask("POST", "/jobs", job({ template: `web@${pinned.version}`, vars, settings }));
    const template = `web@${pinned.version}`;
    expect(created).toMatchObject({ status: 201, body: { template, outputs: [{ key: "mp4:240p" }] } });
    const { body: read } = await ask("GET", `/jobs/${created.body.id}`);
    expect(read.template).toBe(template);
    const { body: requested } = await ask("GET", `/jobs/${created.body.id}/request`);
    expect(requested).toMatchObject({
      request: {
        outputs: { "mp4:240p": { path: "/a1/240p.mp4", duration: 3 } },
        storage: { bucket: "bucket" },
        settings: { priority: 7 },
      },
      left_out: expect.arrayContaining(["storage.credentials"]),
    });
    const { body: jobs } = await ask("GET", "/jobs");
    expect(jobs.jobs[0].template).toBe(template);
  });

  it("is planned by a dry run", async () => {
    const { body: stored } = await put("planned", TEMPLATE);
    const { body } = await ask("POST", "/jobs?dry_run=true", job({ template: "planned", vars }));
    const template = `planned@${stored.version}`;
    expect(body).toMatchObject({ dry_run: true, template, outputs: [{ path: "a1/240p.mp4" }] });
    expect(JSON.stringify(body)).not.toContain(SECRET_KEY);
  });

  const rejected: [string, object, string, RegExp][] = [
    [
      "a missing variable",
      { vars: { id: "a" } },
      "template_vars_not_valid",
      /`vars.seconds` is missing.*\(template `errors@\d`\)/,
    ],
    ["an unused variable", { vars: { ...vars, x: 1 } }, "template_vars_not_valid", /`vars.x` is not used.*`errors@\d`/],
    [
      "a value of the wrong type",
      { vars: { ...vars, seconds: "soon" } },
      "output_param_not_valid",
      /`outputs.mp4:240p.duration`.*\(template `errors@\d`\)/,
    ],
    ["a wrong section", { vars, settings: { colour: 1 } }, "settings_not_valid", /colour.*\(template `errors@\d`\)/],
    [
      "another bucket without credentials",
      { vars, storage: { bucket: "other" } },
      "storage_credentials_not_valid",
      /`storage.bucket`/,
    ],
    ["an unknown template", { template: "nothing" }, "template_not_found", /`nothing`/],
    ["an unknown version", { template: "errors@99" }, "template_not_found", /`errors@99`/],
    ["a template that is no name", { template: "er rors" }, "template_not_valid", /`template` must be the name/],
    ["a template that is no text", { template: 7 }, "template_not_valid", /`template` must be the name/],
  ];
  it.each(rejected)(
    "is refused with %s: the error names the field and the template",
    async (_, changes, code, message) => {
      await put("errors", TEMPLATE);
      const { body } = await ask("POST", "/jobs", job({ template: "errors", ...changes }));
      expect(body).toMatchObject({ error_code: code, message: expect.stringMatching(message) });
    },
  );

  it("is the same job after a change of the template, if the request has the same Idempotency-Key", async () => {
    await put("repeated", TEMPLATE);
    const headers = { "idempotency-key": "repeated-1" };
    const first = await ask("POST", "/jobs", job({ template: "repeated", vars }), { headers });
    await put("repeated", TEMPLATE);
    const again = await ask("POST", "/jobs", job({ template: "repeated", vars }), { headers });
    expect([again.status, again.body.id]).toEqual([201, first.body.id]);
    expect((await ask("GET", `/jobs/${first.body.id}`)).body.template).toBe("repeated@1");
  });
});
