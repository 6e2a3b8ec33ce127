// The tokens of nodes; for the operator.
import { useState } from "preact/hooks";
import type { NewNodeToken } from "../../client/index.ts";
import { admin } from "../core/service.ts";
import { createToken, TokenFields } from "../nodes/token-fields.tsx";
import { Card } from "../parts/card.tsx";
import { Button } from "../parts/controls/button.tsx";
import { useForm } from "../parts/controls/form.tsx";
import { ShownOnce } from "../parts/controls/shown-once.tsx";
import { Problem } from "../parts/problem.tsx";
import { useResource } from "../parts/use-resource.ts";
import { CredentialTable } from "./credential-table.tsx";

export function NodeTokensCard() {
  const tokens = useResource((signal) => admin.nodeTokens.list({ signal }), []);
  const [newToken, setNewToken] = useState<NewNodeToken | null>(null);
  const { onSubmit, error } = useForm(async (fields) => {
    setNewToken(await createToken(fields));
    fields.form.reset();
    tokens.reload();
  });
  return (
    <Card title="Node tokens">
      <form class="body row create-token" onSubmit={onSubmit}>
        <TokenFields />
        <Button type="submit" text="Create a token" />
      </form>
      {(error !== undefined || newToken) && (
        <div class="body stack">
          <Problem error={error} />
          {newToken && (
            <ShownOnce label={`Node token ${newToken.id}`} text={newToken.node_token} close={() => setNewToken(null)}>
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
    </Card>
  );
}
