import { describe, expect, it } from "vitest";
import { expandTemplate } from "./expand-template.ts";
import { mergePatch } from "./merge-patch.ts";
import { parseTemplate } from "./template-body.ts";

const expand = (body: object, request: object) =>
  expandTemplate({ name: "web", version: 3, body: { ...body } }, { ...request });
const bodyOf = (body: object, request: object) => {
  const expanded = expand(body, request);
  if (!expanded.ok) throw new Error(expanded.error.message);
  return expanded.value.body;
};

describe("mergePatch", () => {
  // RFC 7396, appendix A.
  const LETTERS: unknown = ["a", "b"];
  const rows: [target: unknown, patch: unknown, result: unknown][] = [
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [LETTERS, ["c", "d"], ["c", "d"]],
    [{ a: "b" }, ["c"], ["c"]],
    [{ a: "foo" }, null, null],
    [{ a: "foo" }, "bar", "bar"],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: "b", c: null }, { a: "b" }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  it.each(rows)("merges %j with %j to %j, as in RFC 7396", (target, patch, result) => {
    expect(mergePatch(target, patch)).toEqual(result);
  });

  it("does not change prototypes", () => {
    const merged = mergePatch({}, JSON.parse('{"__proto__":{"polluted":true}}'));
    expect(Object.hasOwn(merged as object, "__proto__")).toBe(true);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe("variables of a template", () => {
  it("keep the type of a value that is a whole string, and become text within a text", () => {
    const path = "{{vars.id}}/{{ vars.height }}p-{{ vars.hd }}.mp4";
    const mp4 = { path, duration: "{{ vars.seconds }}", list: ["{{ vars.list }}"] };
    const vars = { id: "a$&b", height: 720, hd: true, seconds: 2.5, list: [1, { a: 2 }] };
    const replaced = { path: "a$&b/720p-true.mp4", duration: 2.5, list: [[1, { a: 2 }]] };
    expect(bodyOf({ outputs: { mp4 } }, { vars })).toEqual({ outputs: { mp4: replaced } });
  });

  it("are replaced in the template only, once, and leave variables of conditions", () => {
    const outputs = { mp4: { if: "{{ input.width }} >= {{ vars.min }}", path: "{{ vars.path }}" } };
    const request = { vars: { min: 1280, path: "{{ vars.min }}.mp4" }, settings: { note: "{{ vars.min }}" } };
    expect(bodyOf({ outputs }, request)).toEqual({
      outputs: { mp4: { if: "{{ input.width }} >= 1280", path: "{{ vars.min }}.mp4" } },
      settings: { note: "{{ vars.min }}" },
    });
  });

  it("have the defaults of the template", () => {
    const template = { vars: { a: 1, b: 2 }, settings: { a: "{{ vars.a }}", b: "{{ vars.b }}" } };
    expect(bodyOf(template, { vars: { b: 3 } })).toEqual({ settings: { a: 1, b: 3 } });
  });

  const template = { outputs: { mp4: { path: "{{ vars.id }}.mp4", vflip: "{{ vars.flip }}" } } };
  const rejected: [string, unknown, RegExp][] = [
    ["missing", { id: "a" }, /^`vars.flip` is missing; `outputs.mp4.vflip` needs it \(template `web@3`\)$/],
    ["unused", { id: "a", flip: true, x: 1 }, /^`vars.x` is not used; its variables: id, flip \(template/],
    ["null", { id: null, flip: true }, /^`vars.id` must not be null/],
    ["an object", { id: {}, flip: true }, /^`vars.id` must be a string, number or boolean.*`outputs.mp4.path`/],
    ["no object", "id=a", /^`vars` must be an object/],
    ["a name of all objects", { constructor: 1, id: "a", flip: true }, /^`vars.constructor` is not used/],
  ];
  it.each(rejected)("are refused when they are %s", (_, vars, message) => {
    const { ok, error } = expand(template, { vars }) as { ok: boolean; error: { code: string; message: string } };
    expect([ok, error.code, error.message]).toEqual([false, "template_vars_not_valid", expect.stringMatching(message)]);
  });

  const inside = {
    input: { url: "https://h/{{ vars.u }}" },
    outputs: { mp4: { if: "{{ input.width }} > {{ vars.n }} AND {{ input.name }} != '{{ vars.q }}'" } },
  };
  const injected: [string, unknown, RegExp | null][] = [
    ["u", "a/../b", /^`vars.u` must not have the segments `.` or `..`, because it is within a URL in `input.url`/],
    ["u", "..a/b..", null],
    ["q", "' or 1 = '1", /^`vars.q` must not have quotes, because .* within quotes of a condition in `outputs.mp4.if`/],
    ["q", 'x" or', /^`vars.q` must not have quotes/],
    ["q", "a b", null],
    ["n", "1 or 1 = 1", /^`vars.n` must be a number or boolean, or have quotes around it in the template, because/],
    ["n", "'a'", /^`vars.n` must be a number/],
    ["n", "-1.5", null],
    ["n", true, null],
  ];
  it.each(injected)("cannot change the meaning of the text around them: %s = %j", (name, value, message) => {
    const expanded = expand(inside, { vars: { u: "a", n: 1, q: "a", [name]: value } });
    expect(expanded.ok ? null : expanded.error.message).toEqual(message && expect.stringMatching(message));
  });

  it("cannot make a body that is larger than bodies may be", () => {
    const settings = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`a${at}`, "{{ vars.x }}"]));
    const expanded = expand({ settings }, { vars: { x: "a".repeat(2000) } });
    expect(expanded).toMatchObject({ ok: false, error: { code: "body_too_large" } });
  });
});

describe("sections of a request", () => {
  it("are merged over the template: lists are replaced, and null removes a field", () => {
    const template = {
      storage: { service: "coconut", path: "a" },
      outputs: { mp4: [{ path: "a.mp4" }], "jpg:320x": { path: "a.jpg", number: 3 } },
      settings: { priority: 5, ultrafast: true },
    };
    const request = {
      template: "web",
      input: { url: "https://example.com/a.mov" },
      storage: { path: "b" },
      outputs: { mp4: [{ path: "b.mp4" }], "jpg:320x": null },
      settings: { ultrafast: null },
    };
    expect(bodyOf(template, request)).toEqual({
      input: { url: "https://example.com/a.mov" },
      storage: { service: "coconut", path: "b" },
      outputs: { mp4: [{ path: "b.mp4" }] },
      settings: { priority: 5 },
    });
  });

  const storage = { service: "s3other", endpoint: "https://s3.example.com", bucket: "a", credentials: { secret: "s" } };
  const input = { url: "https://origin.example.com/a", headers: { authorization: "s" } };
  const targets: [string, object, object, "keeps" | "drops"][] = [
    ["another path", { storage }, { storage: { path: "b" } }, "keeps"],
    ["the same bucket", { storage }, { storage: { bucket: "a" } }, "keeps"],
    ["another bucket", { storage }, { storage: { bucket: "b" } }, "drops"],
    ["another endpoint", { storage }, { storage: { endpoint: "https://evil.example.com" } }, "drops"],
    ["no endpoint", { storage }, { storage: { endpoint: null } }, "drops"],
    ["another service", { storage }, { storage: { service: "s3" } }, "drops"],
    ["another path of the same host", { input }, { input: { url: "https://origin.example.com/b?c" } }, "keeps"],
    ["another host", { input }, { input: { url: "https://evil.example.com/a" } }, "drops"],
    ["another scheme", { input }, { input: { url: "http://origin.example.com/a" } }, "drops"],
    ["another object", { input: { ...storage, key: "a" } }, { input: { key: "b" } }, "keeps"],
  ];
  it.each(targets)(
    "with %s: the secrets of the template follow only to the same target (%#)",
    (_, template, request, result) => {
      const { secret, authorization } = { secret: '"secret":"s"', authorization: '"authorization":"s"' };
      const text = JSON.stringify(bodyOf(template, request));
      expect(text.includes(secret) || text.includes(authorization)).toBe(result === "keeps");
    },
  );

  const headers = { authorization: "s" };
  const PUBLIC = { url: "https://h/public/{{ vars.a }}" };
  const BELOW = { url: `${PUBLIC.url}.mp4` };
  const QUERY = { url: "https://h/v?id={{ vars.a }}" };
  const SUBDOMAIN = { url: "https://{{ vars.a }}.h/x" };
  const led: [string, object, object, string, "keeps" | "drops"][] = [
    ["a name below the folder", BELOW, { a: "x y/b?c#d" }, "https://h/public/x%20y/b%3Fc%23d.mp4", "keeps"],
    ["a name that is encoded already", PUBLIC, { a: "%2e%2e/x" }, "https://h/public/%252e%252e/x", "keeps"],
    ["a backslash", PUBLIC, { a: "..\\x" }, "https://h/public/..%5Cx", "keeps"],
    ["nothing after dots", { url: "https://h/public/..{{ vars.a }}/x" }, { a: "" }, "https://h/public/../x", "drops"],
    ["a value of a query", QUERY, { a: "1&admin=1" }, "https://h/v?id=1%26admin%3D1", "keeps"],
    ["a path after the host", { url: "https://h{{ vars.a }}" }, { a: "/x" }, "https://h/x", "keeps"],
    ["a port", { url: "https://h{{ vars.a }}" }, { a: ":81/x" }, "https://h%3A81/x", "drops"],
    ["a longer host", { url: "https://h{{ vars.a }}" }, { a: ".evil.example/x" }, "https://h.evil.example/x", "drops"],
    ["a part of the host", SUBDOMAIN, { a: "evil.example/y" }, "https://evil.example/y.h/x", "drops"],
    ["a password", { url: "https://u:{{ vars.a }}@h/x" }, { a: "p@evil/" }, "https://u:p%40evil/@h/x", "drops"],
    ["a safe password", { url: "https://u:{{ vars.a }}@h/x" }, { a: "p@q" }, "https://u:p%40q@h/x", "keeps"],
    ["a whole URL", { url: "{{ vars.a }}" }, { a: "https://evil.example/?x=1" }, "https://evil.example/?x=1", "drops"],
    ["a scheme", { url: "{{ vars.a }}://h/x" }, { a: "http" }, "http://h/x", "drops"],
  ];
  it.each(led)(
    "with %s in a URL: the template's secrets follow only below the text before it",
    (_, url, vars, to, result) => {
      const expanded = expand({ input: { ...url, headers } }, { vars });
      const input = { url: to, ...(result === "keeps" ? { headers } : {}) };
      expect(expanded.ok && expanded.value.body).toEqual({ input });
      const { message } = (expanded.ok && expanded.value.inTemplate({ code: "input_not_valid", message: "" })) || {};
      const isNamed = message?.includes("secrets are not used, because the request changes `input.url`");
      expect(isNamed).toBe(result === "drops");
    },
  );

  it("lose secrets of a URL that variables lead elsewhere, in any field, but keep the request's own", () => {
    const watermark = { url: "https://u:s@{{ vars.host }}/w.png?s" };
    const notification = { type: "http", url: "{{ vars.hook }}", params: { t: "{{ vars.t }}" }, headers: { a: "s" } };
    const credentials = { access_key_id: "{{ vars.t }}", secret: "s" };
    const storage = { endpoint: "https://{{ vars.host }}", credentials };
    const vars = { host: "evil.example", hook: "https://evil.example/?q", t: "own" };
    expect(bodyOf({ outputs: { mp4: [{ watermark }] }, notification, storage }, { vars })).toEqual({
      outputs: { mp4: [{ watermark: { url: "https://evil.example/w.png" } }] },
      notification: { type: "http", url: vars.hook, params: { t: "own" } },
      storage: { endpoint: "https://evil.example" },
    });
    const withDefault = { notification, vars: { t: "s" } };
    const { hook } = vars;
    expect(bodyOf(withDefault, { vars: { hook } })).toEqual({ notification: { type: "http", url: hook } });
  });

  it("that change the target are named in errors", () => {
    const expanded = expand({ storage }, { storage: { bucket: "b" } });
    expect(expanded.ok && expanded.value.inTemplate({ code: "storage_not_valid", message: "No" }).message).toBe(
      "No (template `web@3`; the template's secrets are not used, because the request changes `storage.bucket`)",
    );
  });

  it("are refused when they are nested too deeply", () => {
    const deep = JSON.parse(`${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`);
    expect(expand({}, { settings: deep })).toMatchObject({ ok: false, error: { code: "json_not_valid" } });
    expect(parseTemplate({ settings: deep })).toMatchObject({ ok: false, error: { code: "template_not_valid" } });
  });
});

describe("parseTemplate", () => {
  const NAMED = /^`outputs.mp4:{{ vars.size }}` must have variables only in values/;
  const rejected: [string, unknown, RegExp][] = [
    ["a list", [], /object/],
    ["an unknown section", { output: {} }, /no field `output`; did you mean `outputs`/],
    ["a variable in a name", { outputs: { "mp4:{{ vars.size }}": {} } }, NAMED],
    ["a variable with a wrong name", { outputs: { mp4: { path: "{{ vars.a-b }}" } } }, /^`outputs.mp4.path`/],
    ["a default that is not used", { vars: { x: 1 } }, /^`vars.x` is in no string/],
    ["a default that is null", { vars: { x: null }, settings: { a: "{{ vars.x }}" } }, /^`vars.x` must not be null/],
    ["text that is not Unicode", { settings: { a: "\ud800" } }, /^`settings.a` must be valid Unicode/],
  ];
  it.each(rejected)("rejects %s", (_, body, message) => {
    expect(parseTemplate(body)).toMatchObject({ ok: false, error: { message: expect.stringMatching(message) } });
  });

  it("accepts a template without sections, and variables as sections", () => {
    expect(parseTemplate({}).ok).toBe(true);
    expect(parseTemplate({ storage: "{{ vars.storage }}" }).ok).toBe(true);
  });
});
