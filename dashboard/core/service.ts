// The API, with the session's cookie as credential.
import { CopraAdmin } from "../../client/admin.ts";
import { Copra } from "../../client/index.ts";
import { account, endSession, session } from "./session.ts";

export const url = globalThis.location?.origin ?? "http://localhost";

/** Sends a request for the account that an operator chose. Notices the end of the session. */
export async function sendWithSession(input: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const chosen = account.peek();
  if (session.peek()?.operator && chosen) headers.set("copra-account", chosen.id);
  const response = await globalThis.fetch(input, { ...init, headers });
  if (response.status === 401 && new URL(input, url).origin === url && session.peek()) {
    endSession("Your session has ended: it expired, or its key was revoked.");
  }
  return response;
}

/** API calls for the chosen account. */
export const copra = new Copra({ url, retries: 2, fetch: sendWithSession });

/** API calls of the operator; only for sessions with the admin token. */
export const admin = new CopraAdmin({ url, retries: 2, fetch: sendWithSession });
