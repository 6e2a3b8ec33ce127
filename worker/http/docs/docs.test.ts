import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { parseJobRequest } from "#shared/request/job-request.ts";
import { send } from "../../testing/jobs.ts";
import { openApiDocument } from "../openapi/document.ts";
import { referencePage } from "./reference-page.ts";

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  exports.default.fetch(new Request(`https://copra.test${path}`, { headers, redirect: "manual" }));

const page = await (await get("/docs")).text();
const all = (pattern: RegExp): string[] => [...page.matchAll(pattern)].map(([, found = ""]) => found);

describe("GET /docs", () => {
  it("serves a page that may not run scripts or send requests", async () => {
    const { status, headers } = await get("/docs");
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    const [style = ""] = all(/<style>([\s\S]*?)<\/style>/g);
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style));
    const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
    expect(headers.get("content-security-policy")).toBe("frame-ancestors 'none'");
    expect(
      all(/http-equiv="Content-Security-Policy" content="([^"]+)"/g).map((text) => text.replaceAll("&#39;", "'")),
    ).toEqual([
      `default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-${hash}'; img-src 'self' data:`,
    ]);
    expect(page).not.toMatch(/<script|<iframe|\son\w+=|\sstyle=|\ssrc=|@import|url\(/i);
    expect((await get("/docs/", { "if-none-match": headers.get("etag") ?? "" })).status).toBe(304);
  });

  it("has exactly one anchor for each link", () => {
    const ids = all(/\sid="([^"]+)"/g);
    expect(ids.filter((id, at) => ids.indexOf(id) < at)).toEqual([]);
    expect(all(/href="#([^"]+)"/g).filter((id) => !ids.includes(id))).toEqual([]);
    const elsewhere = all(/href="([^#"][^"]*)"/g).filter((address) => !/^data:|^\/docs/.test(address));
    expect(new Set(elsewhere)).toEqual(new Set(["/v2/openapi.json", "https://www.standardwebhooks.com"]));
    expect(ids).toEqual(
      expect.arrayContaining(Object.keys(openApiDocument().components.schemas).map((name) => `schema-${name}`)),
    );
  });

  it("starts with a command for its own server, whose body is a valid job", () => {
    const [command = ""] = all(/(curl -u [\s\S]*?)<\/code>/g);
    const text = command.replaceAll("&quot;", '"').replaceAll("&gt;", ">").replaceAll("&#39;", "'");
    expect(text).toMatch(/^curl -u "\$API_KEY:" https:\/\/copra\.test\/v2\/jobs -d '/);
    const body: unknown = JSON.parse(/-d '([\s\S]*)'/.exec(text)?.[1] ?? "");
    expect(parseJobRequest(body, "none")).toMatchObject({ ok: true });
  });

  it("escapes the values in the page", async () => {
    expect(await referencePage(openApiDocument(), 'https://"><script>x', [])).not.toContain("<script");
  });

  it("rejects POST requests for the page", async () => {
    const refused = await send("/docs", { method: "POST" });
    expect([refused.status, refused.body.error_code]).toEqual([405, "method_not_allowed"]);
  });
});

describe("GET /", () => {
  it("redirects browsers to the page", async () => {
    const { status, headers } = await get("/", { accept: "text/html,application/xhtml+xml,*/*;q=0.8" });
    expect([status, headers.get("location"), headers.get("vary")]).toEqual([302, "/docs", "Accept, Cookie"]);
  });

  it.each(["*/*", "application/json"])("returns an error to programs that accept %s", async (accept) => {
    expect(await send("/", { headers: { accept } })).toMatchObject({
      status: 404,
      body: { error_code: "route_not_found" },
    });
  });
});
