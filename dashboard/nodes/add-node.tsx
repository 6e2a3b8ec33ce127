// Adds a node: makes a token, shows what to type on the machine, and waits until the node is there.
import { useRef, useState } from "preact/hooks";
import type { NewNodeToken, Node } from "../../client/index.ts";
import { COMMAND, IS_PACKAGE } from "../core/command.ts";
import { count } from "../core/format.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { Button } from "../parts/controls/button.tsx";
import { useForm } from "../parts/controls/form.tsx";
import { Icon } from "../parts/icon.tsx";
import { Dialog } from "../parts/overlays/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { Status } from "../parts/status.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { isLoopback, startCommands, WAYS, type Way } from "./node-commands.ts";
import { createToken, TokenFields } from "./token-fields.tsx";

/** `nodes`: the list, which the page reads again while this is open. */
export function AddNode({ nodes, close }: { readonly nodes: readonly Node[]; readonly close: () => void }) {
  const [token, setToken] = useState<NewNodeToken | null>(null);
  const before = useRef<ReadonlyMap<string, Node["connected_at"]>>(new Map());
  const showToken = (created: NewNodeToken): void => {
    before.current = new Map(nodes.map(({ id, connected_at }) => [id, connected_at]));
    setToken(created);
  };
  // Nodes do not state which token they have.
  const come = nodes.filter(
    ({ id, pool, connected_at }) =>
      pool === token?.pool && connected_at !== null && connected_at !== before.current.get(id),
  );
  return (
    <Dialog title="Add a node" close={close} wide>
      {token === null ? <TokenForm onToken={showToken} /> : <Start token={token.node_token} come={come} />}
      <footer>
        <Button text={token === null ? "Cancel" : "Done"} onClick={close} />
        {token === null && <Button type="submit" form="add-node" text="Create its token" class="primary" />}
      </footer>
    </Dialog>
  );
}

function TokenForm({ onToken }: { readonly onToken: (token: NewNodeToken) => void }) {
  const { onSubmit, error } = useForm(async (fields) => onToken(await createToken(fields)));
  return (
    <form id="add-node" class="dialog-body stack" onSubmit={onSubmit}>
      <p>
        A node runs on any machine with Node.js 20 that reaches this service. It opens no port. Several machines may use
        one token.
      </p>
      <div class="row">
        <TokenFields />
      </div>
      <Problem error={error} />
    </form>
  );
}

function Start({ token, come }: { readonly token: string; readonly come: readonly Node[] }) {
  const [way, setWay] = useState<Way>("node");
  const url = location.origin;
  return (
    <div class="dialog-body stack">
      {isLoopback(url) && (
        <p class="notice warn">
          {url} leads every machine to itself. For another machine, open this page by an address that it reaches.
        </p>
      )}
      <p>
        {way === "docker" || !IS_PACKAGE
          ? "In a checkout of Copra on the machine."
          : "In a folder on the machine, after npm install of Copra's package."}{" "}
        The token is shown only here.
      </p>
      <Tabs tabs={WAYS} chosen={way} choose={setWay} label="How the node is started">
        <CodeBlock label="Shell" text={startCommands(way, { command: COMMAND, url, token })} wrap />
      </Tabs>
      <Arrived nodes={come} />
    </div>
  );
}

function Arrived({ nodes }: { readonly nodes: readonly Node[] }) {
  if (nodes.length === 0)
    return (
      <p role="status" class="muted">
        Waiting for the node. If it does not come, its own log has the reason.
      </p>
    );
  return (
    <div role="status" class="stack">
      <strong>{nodes.length === 1 ? "A node has connected" : `${count(nodes.length)} nodes have connected`}</strong>
      {nodes.map(({ id, state, not_ready }) => (
        <div key={id}>
          {id} <Status status={state} />
          {not_ready.map((reason) => (
            <p key={reason}>
              <Icon name="warning" /> {reason}
            </p>
          ))}
        </div>
      ))}
    </div>
  );
}
