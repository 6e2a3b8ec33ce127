// Admits requests at the URL of an upload link: its token, its origins, and the headers that browsers may use.
import type { MiddlewareHandler } from "hono";
import * as z from "zod";
import { AppError } from "#shared/errors.ts";
import type { Env } from "../../bindings.ts";
import { linkOfToken } from "../../crypto/link-token.ts";
import { changeLink, findLink, type UploadLinkRow } from "../../db/upload-links.ts";
import { settingsOf } from "../../settings.ts";
import { TUS_CHECKSUMS } from "../../storage/source-uploads/checked-body.ts";

export type LinkEnv = { Bindings: Env; Variables: { link: UploadLinkRow } };

export const TUS_VERSION = "1.0.0";

const SENT_HEADERS =
  "content-type, content-md5, content-digest, tus-resumable, upload-length, upload-offset, upload-metadata, " +
  "upload-checksum, upload-defer-length, x-http-method-override, x-request-id, x-requested-with";
const READ_HEADERS =
  "location, retry-after, tus-resumable, tus-version, tus-extension, tus-max-size, tus-checksum-algorithm, " +
  "upload-offset, upload-length, upload-expires";
/** Chromium's maximum, in seconds. */
const PREFLIGHT_S = 7200;

export const originsOf = ({ origins }: UploadLinkRow): string[] => z.array(z.string()).parse(JSON.parse(origins));

/**
 * Sets the link of the URL. Answers OPTIONS, also for pages. Throws AppError(upload_link_not_found |
 * cross_site_request | rate_limited).
 */
export const linkGuard: MiddlewareHandler<LinkEnv, "/:token"> = async (context, next) => {
  const { env, req } = context;
  const id = linkOfToken(req.param("token"), settingsOf(env).sealingKeys);
  const link = id === null ? null : await findLink(env.DB, id);
  if (!link)
    throw new AppError("upload_link_not_found", "The URL of the upload link is wrong, or the link was removed");
  const origin = req.header("origin");
  if (origin !== undefined) {
    context.header("vary", "Origin");
    if (!originsOf(link).includes(origin)) {
      await keepRefusedOrigin(env, link, origin);
      throw new AppError("cross_site_request", "The `origins` of the upload link do not include the page's origin");
    }
    context.header("access-control-allow-origin", origin);
    context.header("access-control-expose-headers", READ_HEADERS);
  }
  if (req.method === "OPTIONS") {
    context.header("access-control-allow-methods", "GET, HEAD, POST, PUT, PATCH, DELETE");
    context.header("access-control-allow-headers", SENT_HEADERS);
    context.header("access-control-max-age", String(PREFLIGHT_S));
    context.header("tus-version", TUS_VERSION);
    context.header("tus-extension", "creation,creation-with-upload,termination,checksum,expiration");
    context.header("tus-checksum-algorithm", Object.keys(TUS_CHECKSUMS).join(","));
    context.header("tus-max-size", String(link.maxBytes));
    return context.body(null, 204);
  }
  if (!(await isWithinRate(env, link))) {
    throw new AppError("rate_limited", "Too many requests at this upload link; try again later");
  }
  context.set("link", link);
  return next();
};

const isWithinRate = async (env: Env, { id }: UploadLinkRow): Promise<boolean> =>
  (await env.CLIENT_RATE.limit({ key: `upload link ${id}` })).success;

/** Origins in links have at most this length. */
const MAX_ORIGIN_CHARS = 255;

/** Keeps the origin for the developer of the page: the page itself learns nothing of a request that CORS refuses. */
async function keepRefusedOrigin(env: Env, link: UploadLinkRow, origin: string): Promise<void> {
  const refusedOrigin = origin.slice(0, MAX_ORIGIN_CHARS);
  if (refusedOrigin === link.refusedOrigin || !(await isWithinRate(env, link))) return;
  await changeLink(env.DB, link, { refusedOrigin });
}
