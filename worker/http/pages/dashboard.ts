// /dashboard: the page of the dashboard, at all paths below it. /assets: the files of the dashboard.
import { type Context, Hono } from "hono";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import type { Env } from "../../bindings.ts";
import { publicOrigin, settingsOf } from "../../settings.ts";
import { dashboardFile } from "./assets.ts";
import { playerPolicy, shellPolicy } from "./content-policy.ts";

/** Cloudflare serves existing files before the Worker runs. The Worker sees only requests for removed files. */
const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  mp4: "video/mp4",
  woff2: "font/woff2",
};

export const assets = new Hono<{ Bindings: Env }>().get("/*", async (context) => {
  const { path } = context.req;
  const type = TYPES[path.replace(/^.*\./, "")] ?? "application/octet-stream";
  const body = await dashboardFile(context.env, path);
  const isZipped = /\bgzip\b/.test(context.req.header("accept-encoding") ?? "");
  return context.body(body, 200, {
    "content-type": type,
    // The file's name has a digest of its content.
    "cache-control": "public, max-age=31536000, immutable",
    // The player's page has no origin. Its modules are requests to another origin.
    "access-control-allow-origin": "*",
    vary: "accept-encoding",
    // With this header the runtime compresses the body.
    ...(isZipped ? { "content-encoding": "gzip" } : {}),
  });
});

export const dashboard = new Hono<{ Bindings: Env }>({ strict: false })
  .get("/player", (context) => page(context, "/player.html", playerPolicy))
  .get("/*", (context) => page(context, "/shell.html", shellPolicy));

type Policy = (allowPrivate: AllowPrivate, origin: string) => string;

async function page(context: Context<{ Bindings: Env }>, file: string, policy: Policy): Promise<Response> {
  const { allowPrivate } = settingsOf(context.env);
  return context.body(await dashboardFile(context.env, file), 200, {
    "content-type": "text/html; charset=utf-8",
    // The page names the files of its own version.
    "cache-control": "no-store",
    "content-security-policy": policy(allowPrivate, publicOrigin(context.env, context.req.url)),
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
  });
}
