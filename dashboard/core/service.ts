// The API, with the session's cookie as credential.
import { CopraAdmin } from "../../client/admin.ts";
import { Copra } from "../../client/index.ts";
import { sessionHeaders, takeEarly } from "./early-list.ts";
import { account, endSession, session } from "./session.ts";

export const url = globalThis.location?.origin ?? "http://localhost";

/** Sends a request for the account that an operator chose. Notices the end of the session. */
export async function sendWithSession(input: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const known = { account: account.peek()?.id ?? "", operator: session.peek()?.operator === true };
  for (const [name, value] of Object.entries(sessionHeaders(known))) headers.set(name, value);
  const response = (await earlyResponse(input, init, known)) ?? (await globalThis.fetch(input, { ...init, headers }));
  if (response.status === 401 && new URL(input, url).origin === url && session.peek()) {
    endSession("Your session has ended: it expired, or its key was revoked.");
  }
  return response;
}

/** The response to an early request. Undefined if there is none, or if it is an error: another try may succeed. */
async function earlyResponse(
  input: string,
  { method = "GET", signal }: RequestInit,
  known: { readonly account: string; readonly operator: boolean },
): Promise<Response | undefined> {
  const early = method === "GET" && input.startsWith(url) ? takeEarly(input.slice(url.length), known) : undefined;
  const response = await early?.catch(() => undefined);
  signal?.throwIfAborted();
  return response?.ok ? response : undefined;
}

/** API calls for the chosen account. */
export const copra = new Copra({ url, retries: 2, fetch: sendWithSession });

/** API calls of the operator; only for sessions with the admin token. */
export const admin = new CopraAdmin({ url, retries: 2, fetch: sendWithSession });
