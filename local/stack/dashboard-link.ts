// A one-time link to the dashboard, with all rights on this machine.
import { CopraAdmin } from "../../client/admin.ts";
import { Copra } from "../../client/copra.ts";
import type { StackFile } from "../home/stack-file.ts";

/** A link for the operator that shows the local account. `path`: the page, below /dashboard. Throws CopraError. */
export async function dashboardLink(
  { api, apiKey, adminToken }: Pick<StackFile, "api" | "apiKey" | "adminToken">,
  path = "",
): Promise<string> {
  const url = new URL(api).origin;
  const { account } = await new Copra({ url, key: apiKey }).session();
  const link = await new CopraAdmin({ url, token: adminToken }).dashboardLink(account?.id);
  return link.url.replace("/dashboard#", `/dashboard${path}#`);
}
