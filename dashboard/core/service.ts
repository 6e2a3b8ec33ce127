// The API, with the session's cookie as credential.
import { CopraAdmin } from "../../client/admin.ts";
import { Copra } from "../../client/index.ts";
import { account, endSession, session } from "./session.ts";

export const url = globalThis.location?.origin ?? "http://localhost";

/** Names the account that an operator looks at, and notices when the session has ended. */
export async function sendWithSession(input: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (session.peek()?.operator && account.peek() !== null) headers.set("copra-account", account.peek()?.id ?? "");
  const response = await globalThis.fetch(input, { ...init, headers });
  if (response.status === 401 && new URL(input, url).origin === url && session.peek()) {
    endSession("Your session has ended: it expired, or its key was revoked.");
  }
  return response;
}

/** The calls of the account that is shown. */
export const copra = new Copra({ url, retries: 2, fetch: sendWithSession });

/** The calls of the operator; only for sessions with the admin token. */
export const admin = new CopraAdmin({ url, retries: 2, fetch: sendWithSession });
