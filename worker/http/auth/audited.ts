// Audit entries, from the route of a request and its response.
import { waitUntil } from "cloudflare:workers";
import type { Context, MiddlewareHandler } from "hono";
import * as z from "zod";
import { randomText } from "#shared/ids.ts";
import { messageOf } from "#shared/log.ts";
import { randomBytes } from "../../crypto/bytes.ts";
import { insertEntry, OPERATOR, type Sender } from "../../db/audit.ts";
import { log } from "../../log.ts";
import type { ClientEnv } from "./auth.ts";
import type { AnyContext } from "./same-origin.ts";

/** The client's address, as Cloudflare or the local front server set it. */
export const addressOf = ({ req }: Pick<AnyContext, "req">): string | null => req.header("cf-connecting-ip") ?? null;

/** The sender of an authenticated request. */
export const senderOf = (context: Context<ClientEnv>): Sender => ({
  actor: context.get("key")?.keyId ?? OPERATOR,
  ip: addressOf(context),
});

/** Names of templates, alerts and storages have at most 100 characters. */
const MAX_CHARS = 200;

/**
 * Writes an entry for each request that has changed something, or may have before it failed. Requests with an error of
 * the client changed nothing. The response waits for its entry, except after a failure.
 */
export const audited =
  (action: string, path: string): MiddlewareHandler<ClientEnv> =>
  async (context, next) => {
    await next();
    const { status } = context.res;
    if (status >= 400 && status < 500) return;
    const full = await objectOf(context, path);
    const entry = {
      id: randomText(14, randomBytes),
      createdAt: Date.now(),
      accountId: context.get("account")?.id ?? /^accounts\/([^/]+)/.exec(full)?.[1] ?? "",
      ...senderOf(context),
      action,
      object: full.replace(/^accounts\/[^/]+\/(?=[^/]+\/)/, "").slice(0, MAX_CHARS),
      status,
    };
    const lost = (error: unknown) => log.error("audit entry lost", { ...entry, error: messageOf(error) });
    const written = insertEntry(context.env.DB, entry).catch(lost);
    if (status < 500) await written;
    else waitUntil(written);
  };

const Created = z.object({ id: z.string() }).or(z.object({ account_id: z.string() }));

/**
 * The path without its verb, such as `accounts/Q2hh` of `/v2/admin/accounts/Q2hh/limits`. A created thing has its new id.
 */
async function objectOf({ req, res }: Context<ClientEnv>, path: string): Promise<string> {
  const route = path.replace(/^\/v2\/(?:admin\/)?/, "");
  const fill = (text: string): string => text.replace(/:(\w+)/g, (_, name: string) => req.param(name) ?? "");
  const created = req.method === "POST" && res.status === 201 ? Created.safeParse(await res.clone().json()).data : null;
  if (created) return `${fill(route)}/${"id" in created ? created.id : created.account_id}`;
  return fill(/^.*:\w+/.exec(route)?.[0] ?? route.split("/")[0] ?? "");
}
