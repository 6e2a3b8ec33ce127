// GET /docs: the interface, for people; and the way there from /. Open to anyone.
import { Hono } from "hono";
import { AppError } from "#shared/errors.ts";
import { type Env, settingsOf } from "../../env.ts";
import { docsPage } from "../docs/page.ts";
import { STYLE_TEXT } from "../docs/style.ts";
import { openApiDocument } from "../openapi/document.ts";
import { answerPage, type FixedPage, fixedPage } from "../responses/fixed-page.ts";

/** The page names the address that it is asked by; nearly always that is the same one. */
let last: { origin: string; page: Promise<FixedPage> } | null = null;

export const docs = new Hono<{ Bindings: Env }>({ strict: false }).get("/", async (context) => {
  const origin = settingsOf(context.env).publicUrl ?? new URL(context.req.url).origin;
  if (last?.origin !== origin) last = { origin, page: makePage(origin) };
  return answerPage(context, await last.page);
});

/** Browsers are shown the way to the page; programs are told that nothing is here. */
export const home = new Hono<{ Bindings: Env }>().get("/", (context) => {
  context.header("vary", "Accept");
  if (context.req.header("accept")?.includes("text/html")) return context.redirect("/docs");
  throw new AppError("route_not_found", "There is nothing at /; the documentation is at /docs");
});

async function makePage(origin: string): Promise<FixedPage> {
  return fixedPage(await docsPage(openApiDocument(), origin), {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": await policy(),
  });
}

/** The page may show its own style and icon, and do nothing else. */
async function policy(): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(STYLE_TEXT));
  const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
  const nothing = ["default-src", "base-uri", "form-action", "frame-ancestors"].map((name) => `${name} 'none'`);
  return [...nothing, `style-src 'sha256-${hash}'`, "img-src data:"].join("; ");
}
