// The first list of jobs. A small script (early.ts) requests it while the other scripts are loaded, and the page takes
// it instead of sending the same request. This file imports nothing, so that the script stays small.

/** The first request of the page of jobs. */
const LIST = "/v2/jobs?limit=100";
const NAME = "copra.session";
/** The header for the account that an operator chose. */
const ACCOUNT_HEADER = "copra-account";
/** Older responses are not used. */
const FRESH_MS = 10_000;
/** After this time the page sends the request itself. */
const LIMIT_MS = 30_000;

/** Data of the session that the browser keeps until the service has responded; nothing secret. */
export type KnownSession = {
  /** The account whose jobs are shown. */
  readonly account: string;
  readonly operator: boolean;
  /** Unix ms at which the session ends. */
  readonly until: number;
};

type EarlyList = { readonly session: KnownSession; readonly sentAt: number; readonly response: Promise<Response> };

declare global {
  var copraEarlyList: EarlyList | undefined;
}

/** The headers that requests of a session need besides its cookie. */
export const sessionHeaders = ({
  account,
  operator,
}: Pick<KnownSession, "account" | "operator">): Readonly<Record<string, string>> =>
  operator && account !== "" ? { [ACCOUNT_HEADER]: account } : {};

/** Keeps the data of a session for the next visit; null: nobody is signed in. */
export function rememberSession(known: KnownSession | null): void {
  try {
    if (known === null) localStorage.removeItem(NAME);
    else localStorage.setItem(NAME, JSON.stringify(known));
  } catch {
    // Without storage the list is requested later.
  }
}

/** Requests the list if the page of jobs is opened, and somebody was signed in here. */
export function requestEarly(): void {
  const { pathname, search, hash } = location;
  // A one-time link signs in another person.
  if (!/^\/dashboard\/?$/.test(pathname) || search !== "" || hash.startsWith("#once=")) return;
  try {
    const session: KnownSession | null = JSON.parse(localStorage.getItem(NAME) ?? "null");
    if (session === null || !(session.until > Date.now())) return;
    const response = fetch(LIST, { headers: sessionHeaders(session), signal: AbortSignal.timeout(LIMIT_MS) });
    // A response that nobody takes reports no error.
    response.catch(() => undefined);
    globalThis.copraEarlyList = { session, sentAt: Date.now(), response };
  } catch {
    // Storage may be switched off, or hold other data.
  }
}

/** Returns the early response to a request once, and only for the same session; else undefined. */
export function takeEarly(
  path: string,
  { account, operator }: Pick<KnownSession, "account" | "operator">,
  now = Date.now(),
): Promise<Response> | undefined {
  if (path !== LIST) return undefined;
  const early = globalThis.copraEarlyList;
  globalThis.copraEarlyList = undefined;
  if (!early || now - early.sentAt > FRESH_MS) return undefined;
  const isSame = early.session.account === account && early.session.operator === operator;
  return isSame ? early.response : undefined;
}
