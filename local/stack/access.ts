// Creates the local account with its API key, and the nodes' token, once per home folder.
import * as z from "zod";
import { type Secrets, saveSecrets } from "../home/secrets.ts";

export type Access = NonNullable<Secrets["access"]>;

const Account = z.object({ api_key: z.string(), webhook_secret: z.string() });
const NodeToken = z.object({ node_token: z.string() });

export const basicAuth = (apiKey: string): string => `Basic ${Buffer.from(`${apiKey}:`).toString("base64")}`;

/** The access data in the home folder. Creates it if there is none, or if the control plane does not know it. */
export async function ensureAccess(api: string, home: string, secrets: Secrets): Promise<Access> {
  if (secrets.access && (await isKnown(api, secrets.access.apiKey))) return secrets.access;
  const account = Account.parse(await create(api, "accounts", secrets.adminToken));
  const node = NodeToken.parse(await create(api, "node-tokens", secrets.adminToken));
  const { api_key: apiKey, webhook_secret: webhookSecret } = account;
  const access = { apiKey, webhookSecret, nodeToken: node.node_token };
  saveSecrets(home, { ...secrets, access });
  return access;
}

/** False if somebody has deleted `$COPRA_HOME/control-plane` but not the secrets. */
async function isKnown(api: string, apiKey: string): Promise<boolean> {
  const response = await fetch(`${api}/jobs/none`, { headers: { authorization: basicAuth(apiKey) } });
  await response.body?.cancel();
  return response.status !== 401;
}

async function create(api: string, collection: string, adminToken: string): Promise<unknown> {
  const response = await fetch(`${api}/admin/${collection}`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "local" }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST /admin/${collection} failed with HTTP ${response.status}: ${text}`);
  return JSON.parse(text);
}
