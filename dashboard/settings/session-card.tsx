// The session: the signed-in person, further credentials, other devices, signing out.
import { useState } from "preact/hooks";
import type { SessionLink } from "../../client/index.ts";
import { admin, copra } from "../core/service.ts";
import { account, chooseAccount, session, signIn, signOut } from "../core/session.ts";
import { toast, toastError } from "../parts/overlays/toasts.tsx";
import { Problem } from "../parts/problem.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { Time } from "../parts/time.tsx";

export function SessionCard() {
  const [link, setLink] = useState<SessionLink | null>(null);
  const [isAdding, setAdding] = useState(false);
  const current = session.value;
  if (!current) return null;
  const makeLink = (): void => {
    const made = current.operator ? admin.dashboardLink(account.value?.id) : copra.dashboardLink();
    made.then(setLink, toastError);
  };
  return (
    <section class="card" aria-labelledby="settings-session">
      <header>
        <h2 id="settings-session">Session</h2>
        <button type="button" onClick={() => signOut().catch(toastError)}>
          Sign out
        </button>
      </header>
      <div class="body stack">
        <dl class="facts">
          <dt>Account</dt>
          <dd>
            {account.value ? (
              <>
                {account.value.name} <span class="mono muted">{account.value.id}</span>
              </>
            ) : (
              "none chosen"
            )}
          </dd>
          <dt>Rights</dt>
          <dd>
            {current.operator
              ? "the operator's: all accounts, nodes and credentials"
              : `the rights of the API key${current.scopes ? `: ${current.scopes.join(", ")}` : ""}`}
          </dd>
          <dt>Ends</dt>
          <dd>
            <Time at={current.expires_at} />, or when its key or token is revoked
          </dd>
        </dl>
        <div class="row">
          <button type="button" onClick={makeLink}>
            Link for another device
          </button>
          <button type="button" aria-expanded={isAdding} onClick={() => setAdding(!isAdding)}>
            Add a key or token
          </button>
          {current.operator && (
            <button type="button" onClick={() => chooseAccount(null)} disabled={account.value === null}>
              Choose another account
            </button>
          )}
        </div>
        {link && (
          <ShownOnce label="Signs in once" text={link.url} close={() => setLink(null)}>
            It works once, within a minute, with the rights of this session.
          </ShownOnce>
        )}
        {isAdding && <AddCredential close={() => setAdding(false)} />}
      </div>
    </section>
  );
}

/** A second credential, such as the admin token beside an API key. */
function AddCredential({ close }: { readonly close: () => void }) {
  const [error, setError] = useState<unknown>();
  const add = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    try {
      await signIn(String(data.get("credential") ?? "").trim());
    } catch (reason) {
      return setError(reason);
    }
    toast("The session has the rights of this credential, too");
    close();
  };
  return (
    <form class="stack" onSubmit={add}>
      {error !== undefined && <Problem error={error} />}
      <div class="field">
        <label for="second-credential">API key or admin token</label>
        <div class="row">
          <input
            id="second-credential"
            name="credential"
            type="password"
            autocomplete="off"
            required
            aria-describedby="second-credential-help"
          />
          <button type="submit" class="primary">
            Add
          </button>
        </div>
        <p class="help" id="second-credential-help">
          The session then has the rights of both. A key replaces the key that it had.
        </p>
      </div>
    </form>
  );
}
