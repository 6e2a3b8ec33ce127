// What happens before the first page: a one-time link signs in, else the cookie does.
import { effect, untracked } from "@preact/signals";
import { fragment, navigate, path } from "../core/location.ts";
import { admin } from "../core/service.ts";
import {
  type Account,
  account,
  begin,
  chooseAccount,
  ended,
  endSession,
  lastAccount,
  previewLink,
  readSession,
  redeemLink,
  session,
  sessionOfCookie,
} from "../core/session.ts";
import { confirm } from "../parts/overlays/dialog.tsx";
import { toastError } from "../parts/overlays/toasts.tsx";

const ONCE = "once=";

/** Signs in before the first page, and again whenever a link is opened in this tab: that changes only the fragment. */
export async function start(): Promise<void> {
  await enter();
  effect(() => {
    if (fragment.value.startsWith(ONCE)) untracked(() => void enter());
  });
}

/** Reads the session, and the account of an operator who has chosen one before. */
async function enter(): Promise<void> {
  const once = fragment.value.startsWith(ONCE) ? fragment.value.slice(ONCE.length) : null;
  try {
    if (once === null) await readSession();
    else await useLink(once);
    if (session.value?.operator && account.value === null) await chooseLastAccount();
  } catch (error) {
    endSession(error instanceof Error ? error.message : String(error));
  }
}

/** A link that was used or is too old does not end the session that the browser has. */
async function useLink(once: string): Promise<void> {
  // Before anything else: the secret stays in no history.
  navigate(path.value, { replace: true });
  try {
    if (await mayRedeem(once)) await redeemLink(once);
  } catch (error) {
    await readSession();
    if (session.value) toastError(error);
    else ended.value = error instanceof Error ? error.message : String(error);
  }
}

/**
 * Asks before a link signs in as another account than that of the session: somebody else may have sent the link, to see
 * what is done next in an account of their own. The operator's links are no such danger, and add to what a session may
 * do.
 */
async function mayRedeem(once: string): Promise<boolean> {
  const current = await sessionOfCookie();
  const link = await previewLink(once);
  if (link.operator || (current && link.account?.id === current.account?.id)) return true;
  if (current) begin(current);
  else session.value = null;
  return confirm({
    title: current ? "Sign in as another account?" : `Sign in as ${nameOf(link.account)}?`,
    text:
      `${current ? `You are signed in as ${nameOf(current.account)}. ` : ""}This link signs in as ` +
      `${nameOf(link.account)}, whose owner sees what you do there, such as your new jobs. Go back if you did not ask ` +
      "for this link.",
    action: `Sign in as ${link.account?.name}`,
  });
}

const nameOf = (given: Account | null): string => (given ? `“${given.name}” (${given.id})` : "the operator");

/** The account of the last visit, or the only one. */
async function chooseLastAccount(): Promise<void> {
  const accounts = await admin.accounts.list();
  const chosen = accounts.find(({ id }) => id === lastAccount()) ?? (accounts.length === 1 ? accounts[0] : undefined);
  if (chosen) chooseAccount({ id: chosen.id, name: chosen.name });
}
