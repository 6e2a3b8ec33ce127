import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { send } from "../../testing/jobs.ts";

const get = (path: string): Promise<Response> => exports.default.fetch(new Request(`https://copra.test${path}`));

describe("guides", () => {
  it("serves pages that run no scripts and load nothing from elsewhere", async () => {
    const response = await get("/docs/nodes");
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(response.headers.get("content-security-policy")).toBe("frame-ancestors 'none'");
    const page = await response.text();
    expect(page).toMatch(/http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; /);
    expect(page).toContain("<h1>Encoder nodes</h1>");
    expect(page).toContain('href="/docs/nodes" aria-current="page"');
    expect(page).not.toMatch(/<script|<iframe|\son\w+=|\sstyle=|src="http/i);
  });

  it("serves pages in folders, and the Markdown of each page", async () => {
    expect((await get("/docs/migrating/mux")).status).toBe(200);
    const text = await get("/docs/migrating/mux.md");
    expect(text.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(await text.text()).toMatch(/^# Migrate from Mux\n/);
  });

  it("lists the guides for programs that read text", async () => {
    const list = await (await get("/llms.txt")).text();
    expect(list).toMatch(/^# Copra\n/);
    expect(list).toContain("- [Encoder nodes](/docs/nodes.md): ");
    expect(await (await get("/llms-full.txt")).text()).toContain("# Encoder nodes");
  });

  it.each([
    "/docs/nothing",
    "/docs/nothing.md",
    "/docs/index.json",
    "/docs/a/b/nodes",
    "/docs/%2e%2e%2fshell",
    "/guides/nothing.png",
    "/guides/nothing.js",
  ])("returns 404 for %s", async (path) => {
    expect(await send(path)).toMatchObject({ status: 404, body: { error_code: "route_not_found" } });
  });

  it("rejects POST requests for guides", async () => {
    expect(await send("/docs/nodes", { method: "POST" })).toMatchObject({ status: 405 });
  });
});
