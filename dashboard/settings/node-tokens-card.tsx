// The tokens of nodes; for the operator.
import { useState } from "preact/hooks";
import type { NewNodeToken } from "../../client/index.ts";
import { admin } from "../core/service.ts";
import { createToken, TokenFields } from "../nodes/token-fields.tsx";
import { Problem } from "../parts/problem.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { useResource } from "../parts/use-resource.ts";
import { CredentialTable } from "./credential-table.tsx";

export function NodeTokensCard() {
  const tokens = useResource((signal) => admin.nodeTokens.list({ signal }), []);
  const [made, setMade] = useState<NewNodeToken | null>(null);
  const [error, setError] = useState<unknown>();
  const create = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setError(undefined);
    try {
      setMade(await createToken(form));
      form.reset();
      tokens.reload();
    } catch (reason) {
      setError(reason);
    }
  };
  return (
    <section class="card wide" aria-labelledby="settings-tokens">
      <header>
        <h2 id="settings-tokens">Node tokens</h2>
      </header>
      <form class="body row create-token" onSubmit={create}>
        <TokenFields />
        <button type="submit" class="bottom">
          Create a token
        </button>
      </form>
      {(error !== undefined || made) && (
        <div class="body stack">
          {error !== undefined && <Problem error={error} />}
          {made && (
            <ShownOnce label={`Node token ${made.id}`} text={made.node_token} close={() => setMade(null)}>
              It is shown once. Start a node with it as <code>COPRA_NODE_TOKEN</code>.
            </ShownOnce>
          )}
        </div>
      )}
      <CredentialTable
        label="Node tokens"
        rows={tokens}
        revoke={(token) => admin.nodeTokens.revoke(token)}
        consequence="Its nodes are disconnected at once, and their tasks go to other nodes. This cannot be undone."
      />
    </section>
  );
}
