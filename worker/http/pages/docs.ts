// GET /docs: the list of all pages. /docs/<page>: guides and the API reference. /llms.txt: the list for programs.
// /v2/openapi.json, and the redirect from /. All are public, and made by the build (local/guides/).
import { type Context, Hono } from "hono";
import { AppError } from "#shared/errors.ts";
import type { Env } from "../../bindings.ts";
import { hex } from "../../crypto/bytes.ts";
import { publicOrigin } from "../../settings.ts";
import { readSession } from "../auth/session-cookie.ts";
import { mount } from "../operation/mount.ts";
import { DOCS_OPERATIONS } from "./docs.operations.ts";

/** Stands for the service's origin in pages. */
const ORIGIN = "https://copra.example.com";

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json; charset=utf-8",
  md: "text/markdown; charset=utf-8",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
  webp: "image/webp",
};

export const docs = mount(DOCS_OPERATIONS, {
  /** For any origin. */
  openapi: (context) => {
    context.header("access-control-allow-origin", "*");
    return text(context, "openapi.json");
  },
  docs: (context) => text(context, "index.html"),
})
  .get("/docs/:file{.+.md}", (context) => page(context, context.req.param("file")))
  .get("/docs/:page{.+}", (context) => page(context, `${context.req.param("page")}.html`));

/** Lists of the guides for programs that read text (llmstxt.org). */
export const llms = new Hono<{ Bindings: Env }>()
  .get("/llms.txt", (context) => text(context, "llms.txt"))
  .get("/llms-full.txt", (context) => text(context, "llms-full.txt"));

/**
 * Images of the guides, and the script and index of their search. On Cloudflare they are served before the Worker runs.
 */
export const guideFiles = new Hono<{ Bindings: Env }>().get(
  "/:file{[\\w-]+\\.(?:png|webp|svg|json|js)}",
  async (context) => {
    const file = context.req.param("file");
    const headers = { "cache-control": "public, max-age=300", "x-content-type-options": "nosniff" };
    const content = await (await builtFile(context.env, file)).arrayBuffer();
    return context.body(content, 200, { "content-type": typeOf(file), ...headers });
  },
);

/**
 * Redirects browsers with a session to the dashboard, and other browsers to the page. Other clients receive an error.
 */
export const home = new Hono<{ Bindings: Env }>().get("/", async (context) => {
  context.header("vary", "Accept, Cookie");
  if (context.req.header("accept")?.includes("text/html")) {
    return context.redirect((await readSession(context)) ? "/dashboard" : "/docs");
  }
  throw new AppError("route_not_found", "There is no resource at /; the documentation is at /docs");
});

/** A page. If it is missing: a page for browsers, and a line of text for programs. */
async function page(context: Context<{ Bindings: Env }>, file: string): Promise<Response> {
  const { env, req } = context;
  try {
    return await text(context, file);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const headers = { vary: "Accept", ...FRAMING };
    if (!req.header("accept")?.includes("text/html"))
      return context.text(`${error.message.replace("; ", `; ${publicOrigin(env, req.url)}`)}\n`, 404, headers);
    return context.html(await (await builtFile(env, "404.html")).text(), 404, headers);
  }
}

/** The rest of the policy is in the page. Browsers accept frame-ancestors only as a header. */
const FRAMING = { "content-security-policy": "frame-ancestors 'none'" };

async function text(context: Context<{ Bindings: Env }>, file: string): Promise<Response> {
  const built = await (await builtFile(context.env, file)).text();
  const body = file.endsWith(".json") ? built : built.replaceAll(ORIGIN, publicOrigin(context.env, context.req.url));
  const framing = file.endsWith(".html") ? FRAMING : {};
  return pageResponse(context, await fixedPage(body, { "content-type": typeOf(file), ...framing }));
}

const typeOf = (file: string): string => MEDIA_TYPES[file.replace(/^.*\./, "")] ?? "application/octet-stream";

/** No hidden files, and at most one folder. */
const FILE = /^([\w-]+\/)?[\w-]+\.(html|md|txt|json|js|png|webp|svg)$/;

/** A file that the build has made. Throws AppError(route_not_found). */
async function builtFile(env: Env, path: string): Promise<Response> {
  const url = `https://assets.local/guides/${path}`;
  const response = FILE.test(path) ? await env.ASSETS?.fetch(new Request(url)) : undefined;
  if (response?.ok) return response;
  await response?.body?.cancel();
  throw new AppError("route_not_found", `There is no page at /docs/${path.replace(/\.html$/, "")}; /docs lists all`);
}

/** Responses that are equal for all clients, and that clients and caches may store. */
type FixedPage = { readonly body: string; readonly etag: string; readonly headers: Readonly<Record<string, string>> };

/** Short, so that clients soon receive the pages of a new version. */
const MAX_AGE_SECONDS = 300;

async function fixedPage(body: string, headers: Readonly<Record<string, string>>): Promise<FixedPage> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body));
  const keptHeaders = {
    "cache-control": `public, max-age=${MAX_AGE_SECONDS}`,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  };
  return { body, etag: `"${hex(digest).slice(0, 32)}"`, headers: { ...keptHeaders, ...headers } };
}

/** The page, or 304 if the client has it (RFC 9110 §13.1.2; compression by proxies makes validators weak). */
function pageResponse(context: Context, { body, etag, headers }: FixedPage): Response {
  const known = (context.req.header("if-none-match") ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (known.includes(etag) || known.includes("*")) return context.body(null, 304, { ...headers, etag });
  return context.body(body, 200, { ...headers, etag });
}
