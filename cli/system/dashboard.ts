// copra dashboard.
import { spawn } from "node:child_process";
import { CopraAdmin } from "../../client/admin.ts";
import { Copra, type SessionLink } from "../../client/index.ts";
import type { Run } from "../command-spec.ts";
import { type Context, targetOf } from "../context.ts";
import { EXIT, usageError } from "../exit.ts";

export const dashboard: Run = async (context, _args, options) => {
  const link = await newLink(context);
  context.output.data(link, () => link.url);
  if (options.open === true) openBrowser(link.url);
  return EXIT.done;
};

/** A link with all rights that the target has: the operator's, for the account of the API key. */
async function newLink(context: Context): Promise<SessionLink> {
  const { url, key, adminToken: token, source } = await targetOf(context);
  const { signal } = context;
  const copra = key === null ? null : new Copra({ url, key });
  if (token !== null) {
    const account = (await copra?.session({ signal }))?.account?.id;
    return new CopraAdmin({ url, token }).dashboardLink(account, { signal });
  }
  if (copra) return copra.dashboardLink({ signal });
  throw usageError(`${source} has no API key and no admin token: give --key or --admin-token, or run copra login`);
}

/** What opens a URL on each system. */
const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/** The link is printed anyway: a machine without a browser is no error. */
function openBrowser(url: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...args, url], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}
