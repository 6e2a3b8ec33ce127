// The session: the signed-in person, further credentials, other devices, signing out.
import { useState } from "preact/hooks";
import type { SessionLink } from "../../client/index.ts";
import { admin, copra } from "../core/service.ts";
import { account, session, signIn, signOut } from "../core/session.ts";
import { Card } from "../parts/card.tsx";
import { Button } from "../parts/controls/button.tsx";
import { Field, useForm } from "../parts/controls/form.tsx";
import { ShownOnce } from "../parts/controls/shown-once.tsx";
import { Facts } from "../parts/facts.tsx";
import { toast, toastError } from "../parts/overlays/toasts.tsx";
import { Problem } from "../parts/problem.tsx";
import { Time } from "../parts/time.tsx";

export function SessionCard() {
  const [link, setLink] = useState<SessionLink | null>(null);
  const [isAdding, setAdding] = useState(false);
  const current = session.value;
  if (!current) return null;
  const makeLink = (): void => {
    const request = current.operator ? admin.dashboardLink(account.value?.id) : copra.dashboardLink();
    request.then(setLink, toastError);
  };
  const { name, id } = account.value ?? { name: "none chosen", id: "" };
  return (
    <Card title="Session" actions={<Button text="Sign out" onClick={() => signOut().catch(toastError)} />}>
      <div class="body stack">
        <Facts
          facts={[
            [
              "Account",
              [
                `${name} `,
                <span key="id" class="mono muted">
                  {id}
                </span>,
              ],
            ],
            [
              "Rights",
              current.operator
                ? "the operator's: all accounts, nodes and credentials"
                : `the rights of the API key${current.scopes ? `: ${current.scopes.join(", ")}` : ""}`,
            ],
            ["Ends", [<Time key="at" at={current.expires_at} />, ", or when its key or token is revoked"]],
          ]}
        />
        <div class="row">
          <Button text="Link for another device" onClick={makeLink} />
          <Button text="Add a key or token" aria-expanded={isAdding} onClick={() => setAdding(!isAdding)} />
        </div>
        {link && (
          <ShownOnce label="Signs in once" text={link.url} close={() => setLink(null)}>
            It works once, within a minute, with the rights of this session.
          </ShownOnce>
        )}
        {isAdding && <AddCredential close={() => setAdding(false)} />}
      </div>
    </Card>
  );
}

/** A second credential, such as the admin token beside an API key. */
function AddCredential({ close }: { readonly close: () => void }) {
  const { onSubmit, error } = useForm(async ({ text }) => {
    await signIn(text("credential"));
    toast("The session has the rights of this credential, too");
    close();
  });
  return (
    <form class="stack" onSubmit={onSubmit}>
      <Problem error={error} />
      <Field
        label="API key or admin token"
        help="The session then has the rights of both. A key replaces the key that it had."
        name="credential"
        type="password"
        autocomplete="off"
        required
      />
      <div class="row">
        <Button type="submit" text="Add" class="primary" />
      </div>
    </form>
  );
}
