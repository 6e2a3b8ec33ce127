// The signed-in person, and the chosen account.
import { signal } from "@preact/signals";
import { prefer, preferences } from "./preferences.ts";

export type Account = { readonly id: string; readonly name: string };
export type Session = {
  /** The account of the session's API key; null for an operator without one. */
  readonly account: Account | null;
  /** The scopes of the session's API key; null or absent: all requests. */
  readonly scopes?: readonly string[] | null;
  /** True if the session has the admin token's rights. */
  readonly operator: boolean;
  /** ISO time; null without a browser session. */
  readonly expires_at: string | null;
};

/** null: nobody is signed in; undefined: not yet known. */
export const session = signal<Session | null | undefined>(undefined);

/** The account whose jobs are shown; null if an operator has not chosen an account. */
export const account = signal<Account | null>(null);

/** The reason why the last session ended, for the sign-in page. */
export const ended = signal<string | null>(null);

const ROOT = "/v2/session";

async function problemOf(response: Response): Promise<Error> {
  const body = (await response.json().catch(() => null)) as { message?: string } | null;
  return new Error(body?.message ?? `The service responded with HTTP ${response.status}`);
}

/** Shows the pages of a session. */
export function begin(started: Session): void {
  ended.value = null;
  account.value = started.account;
  session.value = started;
}

/** Reads the session of the browser's cookie; null if nobody is signed in. Throws if the service does not answer. */
export async function sessionOfCookie(): Promise<Session | null> {
  const response = await fetch(ROOT);
  if (response.ok) return response.json();
  if (response.status === 401) return null;
  throw await problemOf(response);
}

/** Reads the session of the browser's cookie into `session`. Throws if the service does not answer. */
export async function readSession(): Promise<void> {
  const started = await sessionOfCookie();
  if (started) begin(started);
  else session.value = null;
}

/**
 * Signs in with an API key, an admin token, or the text of a one-time link. Throws Error with the service's message.
 */
export async function signIn(credential: string): Promise<void> {
  const isKey = credential.startsWith("k-");
  const authorization = isKey ? `Basic ${btoa(`${credential}:`)}` : `Bearer ${credential}`;
  const response = await fetch(ROOT, { method: "POST", headers: { authorization } });
  if (response.status === 401) throw new Error(isKey ? UNKNOWN_KEY : UNKNOWN_TOKEN);
  if (!response.ok) throw await problemOf(response);
  begin(await response.json());
}

const UNKNOWN_KEY =
  "The service does not know this API key. Check that it is complete; it may have expired or been revoked, or " +
  "belong to another service.";
const UNKNOWN_TOKEN = "This is neither an API key, which starts with k-, nor the admin token of this service.";

async function sendLink(body: { readonly once: string; readonly preview?: true }): Promise<Session> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(ROOT, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw await problemOf(response);
  return response.json();
}

/**
 * The session that the secret of a one-time link would start. The link stays usable. Throws Error with the service's
 * message.
 */
export const previewLink = (once: string): Promise<Session> => sendLink({ once, preview: true });

/** Signs in with the secret of a one-time link. Throws Error with the service's message. */
export async function redeemLink(once: string): Promise<void> {
  begin(await sendLink({ once }));
}

export async function signOut(): Promise<void> {
  await fetch(ROOT, { method: "DELETE" });
  endSession(null);
}

/** Forgets the session; the sign-in page shows `reason`. */
export function endSession(reason: string | null): void {
  ended.value = reason;
  session.value = null;
  account.value = null;
}

/** Shows another account; for operators. */
export function chooseAccount(chosen: Account): void {
  account.value = chosen;
  prefer({ account: chosen.id });
}

/** Needs of a page: a chosen account, the rights of the operator. */
export type Needs = { readonly needs: readonly ("account" | "operator")[] };

/** True if the session meets all needs of a page. */
export const isOpen = ({ needs }: Needs): boolean =>
  needs.every((need) => (need === "account" ? account.value !== null : session.value?.operator === true));

/** The id of the account that the operator chose last. */
export const lastAccount = (): string | null => preferences.peek().account;
