// The API keys of the account; for the operator.
import { useState } from "preact/hooks";
import type { NewKey } from "../../client/index.ts";
import { admin } from "../core/service.ts";
import type { Account } from "../core/session.ts";
import { toastError } from "../parts/overlays/toasts.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { useResource } from "../parts/use-resource.ts";
import { CredentialTable } from "./credential-table.tsx";

export function KeysCard({ account: { id, name } }: { readonly account: Account }) {
  const keys = useResource((signal) => admin.keys.list(id, { signal }), [id]);
  const [made, setMade] = useState<NewKey | null>(null);
  const create = (): void => {
    admin.keys.create(id).then(setMade).then(keys.reload).catch(toastError);
  };
  return (
    <section class="card" aria-labelledby="settings-keys">
      <header>
        <h2 id="settings-keys">API keys of {name}</h2>
        <button type="button" onClick={create}>
          Create a key
        </button>
      </header>
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
