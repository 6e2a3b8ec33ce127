// API clients for the service that a command's target names.

import { CopraAdmin } from "../client/admin.ts";
import { Copra } from "../client/index.ts";
import { namedFetch } from "./connection/named-fetch.ts";
import type { Target } from "./connection/target.ts";
import { type Context, targetOf } from "./context.ts";
import { usageError } from "./exit.ts";

/** The context of a command with the account's client. */
export type Client = Context & { readonly target: Target; readonly copra: Copra };

/** Few, because a person waits for the command. */
const RETRIES = 2;

/** Adds the account's client to a context. Throws a usage error without an API key. */
export async function clientOf(context: Context, retries = RETRIES): Promise<Client> {
  const target = await targetOf(context);
  if (target.key === null) {
    throw usageError(
      `${target.source} has no API key: give --key, or COPRA_API_KEY with the same COPRA_URL, or run copra login`,
    );
  }
  const { url, key } = target;
  return { ...context, target, copra: new Copra({ url, key, retries, fetch: namedFetch }) };
}

/** Returns the operator's client. Throws a usage error without an admin token. */
export async function adminOf(context: Context): Promise<CopraAdmin> {
  const { url, adminToken: token, source } = await targetOf(context);
  if (token === null) {
    throw usageError(
      `${source} has no admin token: give --admin-token, or COPRA_ADMIN_TOKEN with the same COPRA_URL, or run ` +
        "copra login --admin",
    );
  }
  return new CopraAdmin({ url, token, retries: RETRIES, fetch: namedFetch });
}
