// The tokens of nodes; for the operator.
import { useState } from "preact/hooks";
import type { NewNodeToken } from "../../client/index.ts";
import { admin } from "../core/service.ts";
import { Problem } from "../parts/problem.tsx";
import { useResource } from "../parts/use-resource.ts";
import { CredentialTable } from "./credential-table.tsx";
import { ShownOnce } from "./shown-once.tsx";

const listOf = (text: string): string[] => text.split(/[\s,]+/).filter((label) => label !== "");

export function NodeTokensCard() {
  const tokens = useResource((signal) => admin.nodeTokens.list({ signal }), []);
  const [made, setMade] = useState<NewNodeToken | null>(null);
  const [error, setError] = useState<unknown>();
  const create = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const text = (name: string): string => String(new FormData(form).get(name) ?? "").trim();
    const labels = listOf(text("labels"));
    const pool = text("pool");
    setError(undefined);
    try {
      setMade(await admin.nodeTokens.create({ name: text("name"), labels, ...(pool === "" ? {} : { pool }) }));
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
        <div class="field">
          <label for="token-name">Name</label>
          <input id="token-name" name="name" required maxLength={100} placeholder="rack 2" />
        </div>
        <div class="field">
          <label for="token-pool">Pool</label>
          <input id="token-pool" name="pool" placeholder="default" />
        </div>
        <div class="field">
          <label for="token-labels">Labels</label>
          <input id="token-labels" name="labels" placeholder="gpu region:eu" />
        </div>
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
