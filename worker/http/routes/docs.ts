// GET /docs: the documentation page, and the redirect from /. Public.
import { Hono } from "hono";
import { AppError } from "#shared/errors.ts";
import type { Env } from "../../bindings.ts";
import { settingsOf } from "../../settings.ts";
import { readSession } from "../auth/session-cookie.ts";
import { docsPage } from "../docs/page.ts";
import { STYLE_TEXT } from "../docs/style.ts";
import { openApiDocument } from "../openapi/document.ts";
import { type FixedPage, fixedPage, pageResponse } from "../responses/fixed-page.ts";

/** The page contains the origin of the request, which is nearly always the same. */
let last: { origin: string; page: Promise<FixedPage> } | null = null;

export const docs = new Hono<{ Bindings: Env }>({ strict: false }).get("/", async (context) => {
  const origin = settingsOf(context.env).publicUrl ?? new URL(context.req.url).origin;
  if (last?.origin !== origin) last = { origin, page: makePage(origin) };
  return pageResponse(context, await last.page);
});

/** Redirects browsers to the dashboard if they have a session, else to the page; other clients receive an error. */
export const home = new Hono<{ Bindings: Env }>().get("/", async (context) => {
  context.header("vary", "Accept, Cookie");
  if (context.req.header("accept")?.includes("text/html")) {
    return context.redirect((await readSession(context)) ? "/dashboard" : "/docs");
  }
  throw new AppError("route_not_found", "There is no resource at /; the documentation is at /docs");
});

async function makePage(origin: string): Promise<FixedPage> {
  return fixedPage(await docsPage(openApiDocument(), origin), {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": await policy(),
  });
}

/** Allows only the inline style and the icon of the page. */
async function policy(): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(STYLE_TEXT));
  const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
  const nothing = ["default-src", "base-uri", "form-action", "frame-ancestors"].map((name) => `${name} 'none'`);
  return [...nothing, `style-src 'sha256-${hash}'`, "img-src data:"].join("; ");
}
