// Signs in before the first page is shown: with a one-time link, else with the cookie.
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

/** Signs in before the first page, and again when a link is opened in this tab, which changes only the fragment. */
export async function start(): Promise<void> {
  await enter();
  effect(() => {
    if (fragment.value.startsWith(ONCE)) untracked(() => void enter());
  });
}

/** Reads the session, and restores the account that an operator chose before. */
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

/** Signs in with a link. A link that was used or is too old does not end the present session. */
async function useLink(once: string): Promise<void> {
  // This comes first, so that the secret stays in no history.
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
 * Asks before a link replaces the session by a session of another account. Somebody else may have sent the link, to see
 * the person's next actions in the sender's own account. The operator's links need no question: they add rights to the
 * session.
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
      `${nameOf(link.account)}, whose owner sees your actions there, such as new jobs. Go back if you did not ask ` +
      "for this link.",
    action: `Sign in as ${link.account?.name}`,
  });
}

const nameOf = (account: Account | null): string => (account ? `“${account.name}” (${account.id})` : "the operator");

/** Chooses the account of the last visit, or the only account. */
async function chooseLastAccount(): Promise<void> {
  const accounts = await admin.accounts.list();
  const chosen = accounts.find(({ id }) => id === lastAccount()) ?? (accounts.length === 1 ? accounts[0] : undefined);
  if (chosen) chooseAccount({ id: chosen.id, name: chosen.name });
}
