// GET /docs: the API reference; /docs/<page>: guides; /llms.txt: their list for programs; and the redirect from /.
// Public.
import { type Context, Hono } from "hono";
import { AppError } from "#shared/errors.ts";
import type { Env } from "../../bindings.ts";
import { settingsOf } from "../../settings.ts";
import { readSession } from "../auth/session-cookie.ts";
import { guidePage } from "../docs/guide-page.ts";
import { type GuideIndex, guideFile, guideIndex } from "../docs/guides.ts";
import { docsPage } from "../docs/page.ts";
import { STYLE_TEXT } from "../docs/style.ts";
import { openApiDocument } from "../openapi/document.ts";
import { type FixedPage, fixedPage, pageResponse } from "../responses/fixed-page.ts";

/** The page contains the origin of the request, which is nearly always the same. */
let last: { origin: string; page: Promise<FixedPage> } | null = null;

export const docs = new Hono<{ Bindings: Env }>({ strict: false })
  .get("/", async (context) => {
    const origin = settingsOf(context.env).publicUrl ?? new URL(context.req.url).origin;
    if (last?.origin !== origin) last = { origin, page: makePage(origin, await guideIndex(context.env)) };
    return pageResponse(context, await last.page);
  })
  .get("/:file{.+\\.md}", async (context) => text(context, context.req.param("file"), "text/markdown"))
  .get("/:page{.+}", async (context) => {
    const page = context.req.param("page");
    const index = await guideIndex(context.env);
    const entry = index.flatMap(({ pages }) => pages).find((one) => one.page === page);
    if (!entry) throw new AppError("route_not_found", `There is no guide at /docs/${page}; /docs lists all`);
    const body = await (await guideFile(context.env, `${page}.html`)).text();
    const headers = await htmlHeaders({ hasScript: entry.hasCalculator });
    return pageResponse(context, await fixedPage(await guidePage(entry, body, index), headers));
  });

/** Lists of the guides for programs that read text (llmstxt.org). */
export const llms = new Hono<{ Bindings: Env }>()
  .get("/llms.txt", (context) => text(context, "llms.txt", "text/plain"))
  .get("/llms-full.txt", (context) => text(context, "llms-full.txt", "text/plain"));

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  png: "image/png",
  svg: "image/svg+xml",
  webp: "image/webp",
};

/** Images and the script of the guides. On Cloudflare they are served before the Worker runs. */
export const guideFiles = new Hono<{ Bindings: Env }>().get("/:file{[\\w-]+\\.(png|webp|svg|js)}", async (context) => {
  const file = context.req.param("file");
  const type = MEDIA_TYPES[file.replace(/^.*\./, "")] ?? "application/octet-stream";
  const headers = { "content-type": type, "cache-control": "public, max-age=300", "x-content-type-options": "nosniff" };
  return context.body(await (await guideFile(context.env, file)).arrayBuffer(), 200, headers);
});

async function text(context: Context<{ Bindings: Env }>, file: string, type: string): Promise<Response> {
  const body = await (await guideFile(context.env, file)).text();
  return pageResponse(context, await fixedPage(body, { "content-type": `${type}; charset=utf-8` }));
}

/** Redirects browsers to the dashboard if they have a session, else to the page; other clients receive an error. */
export const home = new Hono<{ Bindings: Env }>().get("/", async (context) => {
  context.header("vary", "Accept, Cookie");
  if (context.req.header("accept")?.includes("text/html")) {
    return context.redirect((await readSession(context)) ? "/dashboard" : "/docs");
  }
  throw new AppError("route_not_found", "There is no resource at /; the documentation is at /docs");
});

async function makePage(origin: string, guides: GuideIndex): Promise<FixedPage> {
  return fixedPage(await docsPage(openApiDocument(), origin, guides), await htmlHeaders());
}

const htmlHeaders = async ({ hasScript = false } = {}): Promise<Record<string, string>> => ({
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": await policy(hasScript),
});

/** Allows only the inline style, the icon and the images of the page, and the script of the page that has one. */
async function policy(hasScript: boolean): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(STYLE_TEXT));
  const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
  const nothing = ["default-src", "base-uri", "form-action", "frame-ancestors"].map((name) => `${name} 'none'`);
  const scripts = hasScript ? ["script-src 'self'", "require-trusted-types-for 'script'"] : [];
  return [...nothing, `style-src 'sha256-${hash}'`, "img-src 'self' data:", ...scripts].join("; ");
}
