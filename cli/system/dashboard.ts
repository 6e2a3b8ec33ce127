// copra dashboard.
import { CopraAdmin } from "../../client/admin.ts";
import { Copra, type SessionLink } from "../../client/index.ts";
import type { Run } from "../command-spec.ts";
import { namedFetch } from "../connection/named-fetch.ts";
import { type Context, targetOf } from "../context.ts";
import { usageError } from "../exit.ts";
import { openUrl } from "../terminal/open-url.ts";

export const dashboard: Run = async (context, _args, options) => {
  const link = await newLink(context);
  context.output.data(link, () => link.url);
  // The link is printed anyway: a machine without a browser is no error.
  if (options.open === true) await openUrl(link.url);
};

/** Creates a session link with all rights of the target: the operator's rights, for the account of the API key. */
async function newLink(context: Context): Promise<SessionLink> {
  const { url, key, adminToken: token, source } = await targetOf(context);
  const { signal } = context;
  const copra = key === null ? null : new Copra({ url, key, fetch: namedFetch });
  if (token !== null) {
    const account = (await copra?.session({ signal }))?.account?.id;
    return new CopraAdmin({ url, token, fetch: namedFetch }).dashboardLink(account, { signal });
  }
  if (copra) return copra.dashboardLink({ signal });
  throw usageError(`${source} has no API key and no admin token: give --key or --admin-token, or run copra login`);
}
