import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { failedWith, send } from "../../testing/jobs.ts";
import { openApiDocument } from "../openapi/document.ts";
import { reference } from "./reference.ts";

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  exports.default.fetch(new Request(`https://copra.test${path}`, { headers, redirect: "manual" }));
const textAt = async (path: string): Promise<string> => (await get(path)).text();

const PAGES = Object.keys(reference().pages);

describe("pages of /docs", () => {
  it.each(["/docs", "/docs/nodes", "/docs/migrating/mux", "/docs/reference/jobs"])(
    "serves %s with a policy that allows only the page's own style and script",
    async (path) => {
      const { status, headers } = await get(path);
      expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(headers.get("content-security-policy")).toBe("frame-ancestors 'none'");
      const page = await textAt(path);
      const hashes = await Promise.all(
        ["style", "script"].map(async (name) => {
          const inlined = [...page.matchAll(new RegExp(`<${name}>([^]*?)</${name}>`, "g"))];
          expect(inlined).toHaveLength(1);
          const text = new TextEncoder().encode(inlined[0]?.[1]);
          const digest = await crypto.subtle.digest("SHA-256", text);
          const imports = name === "script" ? " 'strict-dynamic'" : "";
          return `${name}-src 'sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}'${imports}`;
        }),
      );
      const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1];
      const nothing = "default-src 'none'; base-uri 'none'; form-action 'none'";
      expect(policy).toBe(`${nothing}; ${hashes.join("; ")}; connect-src 'self'; img-src 'self' data:`);
      expect(page).not.toMatch(/<script |<iframe|\son\w+=|\sstyle=|src="http|@import|url\(/i);
      expect((await get(`${path}/`, { "if-none-match": headers.get("etag") ?? "" })).status).toBe(304);
    },
  );

  it("links all pages on /docs, and marks the visible page", async () => {
    const page = await textAt("/docs");
    expect(page).toContain("<title>Copra documentation</title>");
    for (const name of ["nodes", "migrating/mux", ...PAGES]) expect(page).toContain(`href="/docs/${name}"`);
    expect(await textAt("/docs/nodes")).toContain('href="/docs/nodes" aria-current="page"');
  });

  it("serves the Markdown of each page, with the service's own origin", async () => {
    const text = await get("/docs/migrating/mux.md");
    expect(text.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(await text.text()).toMatch(/^# Migrate from Mux\n/);
    for (const path of ["/docs/reference", "/docs/reference.md"])
      expect(await textAt(path)).toContain("export API=https://copra.test API_KEY=k-…");
  });

  it("serves an index of all sections for the search, and its script", async () => {
    const script = await get("/guides/search.js");
    expect([script.status, script.headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"]);
    const sections: string[][] = await (await get("/guides/search.json")).json();
    const section = ["reference/jobs", "API: Jobs", "Create a job", "create-a-job"];
    expect(sections).toContainEqual([...section, expect.any(String)]);
    expect(sections.some(([page, , heading]) => page === "quick-start" && heading === "A job")).toBe(true);
  });

  it("lists the pages for programs that read text", async () => {
    const list = await textAt("/llms.txt");
    expect(list).toMatch(/^# Copra\n/);
    expect(list).toContain("- [Encoder nodes](/docs/nodes.md): ");
    expect(list).toContain("- [API: Jobs](/docs/reference/jobs.md): ");
    expect(await textAt("/llms-full.txt")).toContain("# Encoder nodes");
  });

  it.each(["/docs/nothing", "/docs/nothing.md", "/docs/index.json", "/docs/a/b/nodes", "/docs/%2e%2e%2fshell"])(
    "returns 404 for %s, with a page for browsers and a line of text for programs",
    async (path) => {
      const [program, browser] = await Promise.all([get(path), get(path, { accept: "text/html,*/*;q=0.8" })]);
      for (const { status, headers } of [program, browser])
        expect([status, headers.get("vary"), headers.get("etag")]).toEqual([404, "Accept", null]);
      expect(program.headers.get("content-type")).toMatch(/^text\/plain;/);
      expect(await program.text()).toMatch(/^There is no page at \/docs\/.*; https:\/\/copra\.test\/docs lists all\n$/);
      expect(browser.headers.get("content-type")).toMatch(/^text\/html;/);
      const page = await browser.text();
      expect(page).toContain("<title>Page not found · Copra</title>");
      expect(page).toContain('The <a href="/docs">documentation</a> lists all pages.');
    },
  );

  it.each(["/guides/nothing.png", "/guides/nothing.js"])("returns 404 for %s", async (path) => {
    expect(await send(path)).toMatchObject(failedWith(404, "route_not_found"));
  });

  it.each(["/docs", "/docs/nodes"])("rejects POST requests for %s", async (path) => {
    expect(await send(path, { method: "POST" })).toMatchObject(failedWith(405, "method_not_allowed"));
  });
});

describe("the API reference", () => {
  it("has a section for each operation and each schema", () => {
    const { pages } = reference();
    const { paths, components } = openApiDocument();
    const headings = Object.values(pages).flatMap((text) => [...text.matchAll(/^## (.*)$/gm)].map(([, name]) => name));
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    for (const { summary } of operations) expect(headings).toContain(summary);
    for (const name of Object.keys(components.schemas)) expect(headings).toContain(name);
  });

  it.each(PAGES)("has exactly one target for each link on the page %s", async (path) => {
    const page = await textAt(`/docs/${path}`);
    const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) < at)).toEqual([]);
    for (const [, target = "", id = ""] of page.matchAll(/href="([^"#]*)#([^"]+)"/g)) {
      if (target.startsWith("/dashboard")) continue;
      expect(target === "" ? page : await textAt(target)).toContain(` id="${id}"`);
    }
  });
});

describe("GET /", () => {
  it("redirects browsers to the documentation", async () => {
    const { status, headers } = await get("/", { accept: "text/html,application/xhtml+xml,*/*;q=0.8" });
    expect([status, headers.get("location"), headers.get("vary")]).toEqual([302, "/docs", "Accept, Cookie"]);
  });

  it.each(["*/*", "application/json"])("returns an error to programs that accept %s", async (accept) => {
    expect(await send("/", { headers: { accept } })).toMatchObject(failedWith(404, "route_not_found"));
  });
});
