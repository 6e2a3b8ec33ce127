// What happens before the first page: a one-time link signs in, else the cookie does.
import { fragment, navigate, path } from "../core/location.ts";
import { admin } from "../core/service.ts";
import {
  account,
  chooseAccount,
  ended,
  endSession,
  lastAccount,
  readSession,
  redeemLink,
  session,
} from "../core/session.ts";
import { toastError } from "../parts/overlays/toasts.tsx";

const ONCE = "once=";

/** Reads the session, and the account of an operator who has chosen one before. */
export async function start(): Promise<void> {
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
    await redeemLink(once);
  } catch (error) {
    await readSession();
    if (session.value) toastError(error);
    else ended.value = error instanceof Error ? error.message : String(error);
  }
}

/** The account of the last visit, or the only one. */
async function chooseLastAccount(): Promise<void> {
  const accounts = await admin.accounts.list();
  const chosen = accounts.find(({ id }) => id === lastAccount()) ?? (accounts.length === 1 ? accounts[0] : undefined);
  if (chosen) chooseAccount({ id: chosen.id, name: chosen.name });
}
