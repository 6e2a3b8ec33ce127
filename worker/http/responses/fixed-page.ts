// Answers that are the same for everyone, and that clients and caches may keep for a while.
import type { Context } from "hono";
import { hex } from "../../hex.ts";

export type FixedPage = {
  readonly body: string;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Short enough that a new version of the service is soon seen. */
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

/** The page, or 304 for those who have it (RFC 9110 §13.1.2; compression on the way makes validators weak). */
export function answerPage(context: Context, { body, etag, headers }: FixedPage): Response {
  const known = (context.req.header("if-none-match") ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (known.includes(etag) || known.includes("*")) return context.body(null, 304, { ...headers, etag });
  return context.body(body, 200, { ...headers, etag });
}
