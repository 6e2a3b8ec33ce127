// The account that an operator has chosen.
import { useState } from "preact/hooks";
import type { NewAccount } from "../../client/index.ts";
import { admin } from "../core/service.ts";
import { account, chooseAccount, session } from "../core/session.ts";
import { Button } from "../parts/controls/button.tsx";
import { Field, useForm } from "../parts/controls/form.tsx";
import { ShownOnce } from "../parts/controls/shown-once.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { toastError } from "../parts/overlays/toasts.tsx";
import { Problem } from "../parts/problem.tsx";
import { Time } from "../parts/time.tsx";
import { useResource } from "../parts/use-resource.ts";

/** Lets an operator choose an account before the first page. */
export function AccountChoice() {
  const accounts = useResource((signal) => admin.accounts.list({ signal }), []);
  const [newKey, setNewKey] = useState<Made | null>(null);
  const create = (name: string): Promise<void> => admin.accounts.create(name).then((key) => setNewKey({ name, key }));
  const { onSubmit, isBusy, error } = useForm(({ text }) => create(text("name")));
  if (!session.value?.operator) return null;
  if (newKey) return <NewAccountKey made={newKey} />;
  return (
    <Loaded of={accounts}>
      {(list) => (
        <section class="card account-choice">
          <header>
            <h1>Choose an account</h1>
          </header>
          {list.length === 0 ? (
            <Empty title="There is no account yet">
              <p>Jobs, API keys and webhooks belong to an account. Tokens for nodes are under Settings, afterwards.</p>
              <Button text="Create an account" onClick={() => create(FIRST).catch(toastError)} />
            </Empty>
          ) : (
            <>
              <ul>
                {list.map(({ id, name, created_at }) => (
                  <li key={id}>
                    <button type="button" class="quiet" onClick={() => chooseAccount({ id, name })}>
                      <b>{name}</b>
                      <span class="mono">{id}</span>
                      <span>
                        created <Time at={created_at} />
                      </span>
                    </button>
                  </li>
                ))}
              </ul>
              <form class="body row" onSubmit={onSubmit}>
                <Field label="Another account" name="name" placeholder="Its name" required />
                <Button type="submit" text="Create" disabled={isBusy} />
              </form>
              <Problem error={error} />
            </>
          )}
        </section>
      )}
    </Loaded>
  );
}

/** The name of the first account. */
const FIRST = "default";

type Made = { readonly name: string; readonly key: NewAccount };

function NewAccountKey({ made: { name, key: created } }: { readonly made: Made }) {
  const { account_id: id, api_key: key, webhook_secret: secret } = created;
  return (
    <section class="card account-choice">
      <header>
        <h1>The account {name} is created</h1>
      </header>
      <div class="body">
        <ShownOnce label="API key" text={key} close={() => chooseAccount({ id, name })}>
          It is shown once, as is the secret that signs webhooks: <code>{secret}</code>
        </ShownOnce>
      </div>
    </section>
  );
}

/** Shows the chosen account; operators can change it. */
export function AccountMenu() {
  const chosen = account.value;
  if (!session.value?.operator) return chosen && <span class="account ellipsis">{chosen.name}</span>;
  return (
    <button type="button" class="quiet account" onClick={() => chooseAccount(null)} title="Choose another account">
      <span class="visually-hidden">Account:</span>
      <span class="ellipsis">{chosen?.name ?? "No account"}</span>
      <span class="chip">operator</span>
    </button>
  );
}
