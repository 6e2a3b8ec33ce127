// Responses that are the same for all clients, and that clients and caches may store.
import type { Context } from "hono";
import { hex } from "../../crypto/bytes.ts";

export type FixedPage = {
  readonly body: string;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Short, so that clients soon receive the pages of a new version. */
const MAX_AGE_SECONDS = 300;

export async function fixedPage(body: string, headers: Readonly<Record<string, string>>): Promise<FixedPage> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body));
  const kept = {
    "cache-control": `public, max-age=${MAX_AGE_SECONDS}`,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  };
  return { body, etag: `"${hex(digest).slice(0, 32)}"`, headers: { ...kept, ...headers } };
}

/** The page, or 304 if the client has it (RFC 9110 §13.1.2; compression by proxies makes validators weak). */
export function pageResponse(context: Context, { body, etag, headers }: FixedPage): Response {
  const known = (context.req.header("if-none-match") ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (known.includes(etag) || known.includes("*")) return context.body(null, 304, { ...headers, etag });
  return context.body(body, 200, { ...headers, etag });
}
