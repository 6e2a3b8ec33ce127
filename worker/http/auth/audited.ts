// Audit entries, from the route of a request and its response.
import type { MiddlewareHandler } from "hono";
import * as z from "zod";
import { randomText } from "#shared/ids.ts";
import { messageOf } from "#shared/log.ts";
import { randomBytes } from "../../crypto/bytes.ts";
import { insertEntry, type Sender } from "../../db/audit.ts";
import { log } from "../../log.ts";
import type { ClientEnv } from "./auth.ts";
import type { AnyContext } from "./same-origin.ts";

/** The sender of a request. Cloudflare or the local front server has set the address. */
export const senderOf = ({ req }: Pick<AnyContext, "req">, keyId: string | null): Sender => ({
  actor: keyId ?? "operator",
  ip: req.header("cf-connecting-ip") ?? null,
});

/** Writes an entry for each request that has changed something, or may have. Those with a client's error have not. */
export const audited =
  (action: string, path: string): MiddlewareHandler<ClientEnv> =>
  async (context, next) => {
    await next();
    const { req, res, env } = context;
    const { status } = res;
    if (status >= 400 && status < 500) return;
    const created = req.method === "POST" && status === 201 ? NewIds.parse(await res.clone().json()) : {};
    const route = path.replace(/^\/v2\/(?:admin\/)?/, "");
    const newId = created.id ?? created.account_id;
    // The path without its verb, such as `accounts/Q2hh` of `/v2/admin/accounts/Q2hh/limits`; with the id of a new thing.
    const named = newId === undefined ? (/^.*:\w+/.exec(route)?.[0] ?? route.split("/")[0] ?? "") : `${route}/${newId}`;
    const full = named.replace(/:(\w+)/g, (_, name: string) => req.param(name) ?? "");
    const accountId = context.get("account")?.id ?? /^accounts\/([^/]+)/.exec(full)?.[1] ?? null;
    const object = full.replace(/^accounts\/[^/]+\/(?=[^/]+\/)/, "").slice(0, 200);
    const sender = senderOf(context, context.get("key")?.keyId ?? null);
    const entry = {
      id: randomText(14, randomBytes),
      createdAt: Date.now(),
      accountId,
      ...sender,
      action,
      object,
      status,
    };
    const lost = (error: unknown) => log.error("audit entry lost", { ...entry, error: messageOf(error) });
    await insertEntry(env.DB, entry).catch(lost);
  };

const NewIds = z.object({ id: z.string(), account_id: z.string() }).partial();
