// The first list of jobs: requested by a small script (early.ts) while the others are loaded, and taken by the page
// when it would send the same request. This file imports nothing, so that the script stays small.

/** What the page of jobs requests first. */
const LIST = "/v2/jobs?limit=100";
const NAME = "copra.session";
/** The operator's account for a request. */
const ACCOUNT_HEADER = "copra-account";
/** Older responses are not used. */
const FRESH_MS = 10_000;
/** The page sends the request itself when this one takes longer. */
const LIMIT_MS = 30_000;

/** What the browser knows of its session before the service has responded; no secret. */
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

/** The headers that requests of a session need beside its cookie. */
export const sessionHeaders = ({
  account,
  operator,
}: Pick<KnownSession, "account" | "operator">): Readonly<Record<string, string>> =>
  operator && account !== "" ? { [ACCOUNT_HEADER]: account } : {};

/** Keeps what a session shows for the next time that the page is opened; null: nobody is signed in. */
export function rememberSession(known: KnownSession | null): void {
  try {
    if (known === null) localStorage.removeItem(NAME);
    else localStorage.setItem(NAME, JSON.stringify(known));
  } catch {
    // Without storage the list is requested later.
  }
}

/** Requests the list if the page that is opened is that of jobs, and somebody was signed in here. */
export function requestEarly(): void {
  const { pathname, search, hash } = location;
  // A link signs in as somebody else.
  if (!/^\/dashboard\/?$/.test(pathname) || search !== "" || hash.startsWith("#once=")) return;
  try {
    const session: KnownSession | null = JSON.parse(localStorage.getItem(NAME) ?? "null");
    if (session === null || !(session.until > Date.now())) return;
    const response = fetch(LIST, { headers: sessionHeaders(session), signal: AbortSignal.timeout(LIMIT_MS) });
    // What is not taken reports nothing.
    response.catch(() => undefined);
    globalThis.copraEarlyList = { session, sentAt: Date.now(), response };
  } catch {
    // Storage may be switched off, or hold something else.
  }
}

/** The early response to a request, once and only of the same session; undefined if there is none. */
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
