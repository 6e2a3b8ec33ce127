// The API keys of the account; for the operator.
import { useState } from "preact/hooks";
import type { KeyRestrictions, NewKey } from "../../client/index.ts";
import { SCOPE_NAMES, SCOPES } from "../../shared/api/scopes.ts";
import { admin } from "../core/service.ts";
import type { Account } from "../core/session.ts";
import { toastError } from "../parts/overlays/toasts.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { useResource } from "../parts/use-resource.ts";
import { CredentialTable } from "./credential-table.tsx";

/** The restrictions that the form describes. */
function restrictionsOf(form: FormData): KeyRestrictions {
  const scopes = SCOPE_NAMES.filter((scope) => form.getAll("scope").includes(scope));
  const expires = String(form.get("expires") ?? "");
  return {
    ...(scopes.length > 0 ? { scopes } : {}),
    ...(expires === "" ? {} : { expires_at: `${expires}T00:00:00Z` }),
  };
}

export function KeysCard({ account: { id, name } }: { readonly account: Account }) {
  const keys = useResource((signal) => admin.keys.list(id, { signal }), [id]);
  const [made, setMade] = useState<NewKey | null>(null);
  const create = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    try {
      setMade(await admin.keys.create(id, restrictionsOf(new FormData(form))));
      form.reset();
    } catch (reason) {
      toastError(reason);
    }
    keys.reload();
  };
  return (
    <section class="card" aria-labelledby="settings-keys">
      <header>
        <h2 id="settings-keys">API keys of {name}</h2>
      </header>
      <form class="body stack" onSubmit={create}>
        <fieldset class="stack">
          <legend>Only these requests; without a choice, all</legend>
          {SCOPE_NAMES.map((scope) => (
            <label class="check" key={scope}>
              <input type="checkbox" name="scope" value={scope} />
              <span>
                <span class="mono">{scope}</span> <span class="muted">{SCOPES[scope]}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <div class="row">
          <div class="field">
            <label for="key-expires">Valid until the start of (UTC)</label>
            <input id="key-expires" name="expires" type="date" />
          </div>
          <button type="submit" class="bottom">
            Create a key
          </button>
        </div>
      </form>
      {made && (
        <div class="body">
          <ShownOnce label={`API key ${made.id}`} text={made.api_key} close={() => setMade(null)}>
            It is shown once: only its digest is stored.
          </ShownOnce>
        </div>
      )}
      <CredentialTable
        label={`API keys of ${name}`}
        rows={keys}
        revoke={(key) => admin.keys.revoke(key)}
        consequence="Requests with it are refused from now on, and its sessions end. This cannot be undone."
      />
    </section>
  );
}
