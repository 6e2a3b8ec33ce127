// The API, with the session's cookie as credential.
import { CopraAdmin } from "../../client/admin.ts";
import { Copra } from "../../client/index.ts";
import { account, endSession, session } from "./session.ts";

export const url = globalThis.location?.origin ?? "http://localhost";

/** Sends a request for the account that an operator chose. Notices the end of the session, if no other has begun. */
export async function sendWithSession(input: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const [chosen, present] = [account.peek(), session.peek()];
  if (present?.operator && chosen) headers.set("copra-account", chosen.id);
  const response = await globalThis.fetch(input, { ...init, headers });
  if (new URL(input, url).origin !== url) return response;
  skewMs = skewOf(response.headers.get("date"), Date.now());
  if (response.status === 401 && present && session.peek() === present) {
    endSession("Your session has ended: it expired, or its key was revoked.");
  }
  return response;
}

/** The service's clock minus the browser's, in ms. */
let skewMs = 0;

/** The service's present time, in ms since 1970. */
export const serviceNow = (): number => Date.now() + skewMs;

/** The header has whole seconds, and responses need some time to arrive. */
const TOLERANCE_MS = 2000;

/** The skew of the clocks by the header `Date` of a response. Clocks that hardly differ count as equal. */
export function skewOf(date: string | null, arrivedMs: number): number {
  const skew = Date.parse(date ?? "") - arrivedMs;
  return Math.abs(skew) > TOLERANCE_MS ? skew : 0;
}

/** API calls for the chosen account. */
export const copra = new Copra({ url, retries: 2, fetch: sendWithSession });

/** API calls of the operator; only for sessions with the admin token. */
export const admin = new CopraAdmin({ url, retries: 2, fetch: sendWithSession });
