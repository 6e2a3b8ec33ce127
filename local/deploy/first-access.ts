// The first account and the first node token of a deployed service.
import { CopraAdmin } from "../../client/admin.ts";
import type { Service } from "./state.ts";

/** New hosts of workers.dev answer after some seconds. */
const START_LIMIT_MS = 90_000;
const RETRY_MS = 2000;

export type Access = Service["access"];
/** The service with its admin token. */
export type Deployed = { readonly url: string; readonly token: string; readonly fetch: typeof globalThis.fetch };
export type FirstAccess = { readonly access: Access; readonly isNew: boolean };

/**
 * Creates an account if the service has none, and a token for nodes if none is valid. Returns all known access data.
 * Throws CopraError, for example for a wrong admin token.
 */
export async function ensureAccess({ url, token, fetch }: Deployed, known: Access): Promise<FirstAccess> {
  const admin = new CopraAdmin({ url, token, fetch });
  const created: Access = {};
  if ((await admin.accounts.list()).length === 0) {
    const account = await admin.accounts.create("default");
    Object.assign(created, {
      accountId: account.account_id,
      apiKey: account.api_key,
      webhookSecret: account.webhook_secret,
    });
  }
  const tokens = await admin.nodeTokens.list();
  if (!tokens.some(({ revoked_at: revokedAt }) => revokedAt === null)) {
    Object.assign(created, { nodeToken: (await admin.nodeTokens.create({ name: "nodes" })).node_token });
  }
  return { access: { ...known, ...created }, isNew: Object.keys(created).length > 0 };
}

/** Waits until the service answers. Returns false if it does not. */
export async function isReachable(
  { url, fetch }: Omit<Deployed, "token">,
  limitMs: number = START_LIMIT_MS,
): Promise<boolean> {
  for (const endsAt = Date.now() + limitMs; ; ) {
    const response = await fetch(`${url}/v2/health`, { signal: AbortSignal.timeout(RETRY_MS * 5) }).catch(() => null);
    await response?.body?.cancel();
    if (response?.ok) return true;
    if (Date.now() > endsAt) return false;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
