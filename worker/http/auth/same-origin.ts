// Protects against requests that other sites make with the browser's cookie.
import type { HonoRequest } from "hono";
import { AppError } from "#shared/errors.ts";
import type { Env } from "../../bindings.ts";
import { settingsOf } from "../../settings.ts";

/** A context of any route. */
export type AnyContext = {
  readonly req: HonoRequest;
  readonly env: Env;
  readonly header: (name: string, value: string, options?: { readonly append?: boolean }) => void;
};

const READING = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Returns "same" if a page of this service sent the request, according to the browser (Fetch Metadata: Sec-Fetch-Site).
 * Over plain HTTP to other hosts, browsers only send Origin. `unknown`: the request comes from a program or an old
 * browser.
 */
export function requestOrigin(context: AnyContext): "same" | "other" | "unknown" {
  const site = context.req.header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin" ? "same" : "other";
  const origin = context.req.header("origin");
  if (origin === undefined) return "unknown";
  const { publicUrl } = settingsOf(context.env);
  const ownOrigins = [new URL(context.req.url).origin, ...(publicUrl === null ? [] : [new URL(publicUrl).origin])];
  return ownOrigins.includes(origin) ? "same" : "other";
}

/** Requires that a request with a cookie that changes something comes from a page of this service. */
export function requireSameOrigin(context: AnyContext): void {
  if (READING.has(context.req.method) || requestOrigin(context) === "same") return;
  throw new AppError(
    "cross_site_request",
    "A request with the cookie of a session must come from a page of this service; programs send an API key",
  );
}
