import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { app } from "../app.ts";
import { shellPolicy } from "./content-policy.ts";

const FILES: Readonly<Record<string, string>> = { "/shell.html": "<!doctype html>", "/assets/main-AB12.js": "let a" };
/** The files of a build, as the runtime serves them. */
const ASSETS = {
  fetch: async (request: Request) => {
    const file = FILES[new URL(request.url).pathname];
    return new Response(file ?? null, { status: file === undefined ? 404 : 200 });
  },
} as unknown as Fetcher;
const get = (path: string) => app.request(`https://copra.test${path}`, {}, { ...env, ALLOW_PRIVATE: "none", ASSETS });

it.each(["/dashboard", "/dashboard/", "/dashboard/jobs/AAAAAAAAAAAAAA", "/dashboard/new"])(
  "%s is the page of the dashboard, kept by nobody, with a strict policy",
  async (path) => {
    const answer = await get(path);
    expect([answer.status, await answer.text()]).toEqual([200, "<!doctype html>"]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "cache-control": "no-store",
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
    expect(answer.headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https:; connect-src 'self'; " +
        "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    );
  },
);

it("files are kept for ever, by their names", async () => {
  const answer = await get("/assets/main-AB12.js");
  expect([answer.status, answer.headers.get("cache-control"), answer.headers.get("content-type")]).toEqual([
    200,
    "public, max-age=31536000, immutable",
    "text/javascript; charset=utf-8",
  ]);
});

it.each(["/assets/none.js", "/assets/../shell.html", "/assets/.build.json", "/assets/a/b.js", "/assets"])(
  "there is no file %s, and the error is kept by nobody",
  async (path) => {
    const answer = await get(path);
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([404, "no-store"]);
  },
);

it("without a build there is no dashboard, and the API goes on", async () => {
  const answer = await app.request("https://copra.test/dashboard", {}, { ...env, ASSETS: undefined });
  expect(answer.status).toBe(404);
});

it.each<[AllowPrivate, string, string]>([
  ["none", "https://copra.test", "https:"],
  ["loopback", "http://127.0.0.1:8787", "https: http://127.0.0.1:* http://localhost:* http://127.0.0.1:8787"],
  ["all", "https://copra.test", "https: http:"],
  [{ networks: "none", origins: ["http://nas:9000"] }, "https://copra.test", "https: http://nas:9000"],
])("allows images of %j at %s from %s", (allow, own, origins) => {
  expect(shellPolicy(allow, own)).toContain(`img-src 'self' data: ${origins};`);
});
