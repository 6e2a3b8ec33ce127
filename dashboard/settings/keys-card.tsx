// The API keys of the account; for the operator.
import { useState } from "preact/hooks";
import type { KeyOptions, NewKey } from "../../client/index.ts";
import { SCOPE_NAMES, SCOPES } from "../../shared/api/scopes.ts";
import { admin } from "../core/service.ts";
import type { Account } from "../core/session.ts";
import { Card } from "../parts/card.tsx";
import { Button } from "../parts/controls/button.tsx";
import { Day, Field, type Fields, useForm } from "../parts/controls/form.tsx";
import { ShownOnce } from "../parts/controls/shown-once.tsx";
import { Problem } from "../parts/problem.tsx";
import { useResource } from "../parts/use-resource.ts";
import { CredentialTable } from "./credential-table.tsx";

/** The key that the form describes. */
function optionsOf({ data, text }: Fields): KeyOptions {
  const scopes = SCOPE_NAMES.filter((scope) => data.getAll("scope").includes(scope));
  return {
    ...(text("name") === "" ? {} : { name: text("name") }),
    ...(scopes.length > 0 ? { scopes } : {}),
    ...(text("expires") === "" ? {} : { expires_at: `${text("expires")}T00:00:00Z` }),
  };
}

export function KeysCard({ account: { id, name } }: { readonly account: Account }) {
  const keys = useResource((signal) => admin.keys.list(id, { signal }), [id]);
  const [newKey, setNewKey] = useState<NewKey | null>(null);
  const [lastDay, setLastDay] = useState("");
  const { onSubmit, error } = useForm(async (fields) => {
    setNewKey(await admin.keys.create(id, optionsOf(fields)));
    fields.form.reset();
    setLastDay("");
    keys.reload();
  });
  return (
    <Card title={`API keys of ${name}`} class="wide">
      <form class="body stack" onSubmit={onSubmit}>
        <div class="row">
          <Field label="Name" name="name" maxLength={100} placeholder="The program or person that uses it" />
          <Field label="Valid until the start of (UTC)">
            {(dayId) => <Day id={dayId} name="expires" value={lastDay} set={setLastDay} none="no end" />}
          </Field>
          <Button type="submit" text="Create a key" class="primary" />
        </div>
        <details class="more">
          <summary>Only some requests</summary>
          <fieldset class="scopes">
            <legend class="visually-hidden">Requests that the key may send; without a choice, all</legend>
            {SCOPE_NAMES.map((scope) => (
              <label class="check" key={scope}>
                <input type="checkbox" name="scope" value={scope} />
                <span class="mono">{scope}</span>
                <span class="muted">{SCOPES[scope]}</span>
              </label>
            ))}
          </fieldset>
        </details>
        <Problem error={error} />
      </form>
      {newKey && (
        <div class="body">
          <ShownOnce label={`API key ${newKey.id}`} text={newKey.api_key} close={() => setNewKey(null)}>
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
    </Card>
  );
}
