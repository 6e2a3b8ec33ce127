// A one-time link to the dashboard, with all rights on this machine.
import * as z from "zod";
import type { StackFile } from "../home/stack-file.ts";
import { basicAuth } from "./access.ts";

const Who = z.object({ account: z.object({ id: z.string() }) });
const Link = z.object({ url: z.url() });

/**
 * A link for the operator that shows the local account. `path`: the page, below /dashboard. Throws the service's
 * message.
 */
export async function dashboardLink(
  { api, apiKey, adminToken }: Pick<StackFile, "api" | "apiKey" | "adminToken">,
  path = "",
): Promise<string> {
  const { account } = Who.parse(await ask(`${api}/session`, { headers: { authorization: basicAuth(apiKey) } }));
  const headers = { authorization: `Bearer ${adminToken}` };
  const body = JSON.stringify({ account: account.id });
  const { url } = Link.parse(await ask(`${api}/session/links`, { method: "POST", headers, body }));
  return url.replace("/dashboard#", `/dashboard${path}#`);
}

async function ask(url: string, init: RequestInit): Promise<unknown> {
  const response = await fetch(url, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`No link to the dashboard: HTTP ${response.status} ${text}`);
  return JSON.parse(text);
}
