// The nodes as rows. j and k move between them, Enter opens the details.
import { useRef } from "preact/hooks";
import type { Node } from "../../client/index.ts";
import { useKeys } from "../core/keyboard.ts";
import { Scroll } from "../parts/scroll.tsx";
import { newestProtocol, notesOf, usualVersions } from "./fleet.ts";
import { type NodeVerb, useNodeAction } from "./node-actions.tsx";
import { NodeRow } from "./node-row.tsx";

type TableProps = {
  readonly nodes: readonly Node[];
  /** Also those that the filter leaves out. */
  readonly all: readonly Node[];
  /** The node whose details are shown. */
  readonly open: string;
  readonly setOpen: (id: string) => void;
  /** Called after a node was changed. */
  readonly onChange: () => void;
};

export function NodeTable({ nodes, all, open, setOpen, onChange }: TableProps) {
  const table = useRef<HTMLTableElement>(null);
  const usual = usualVersions(all);
  const protocol = newestProtocol(all);
  const { act, busy } = useNodeAction(onChange);
  useNodeKeys(table, nodes, act);
  useKeys({ Escape: { help: "Close the details", run: () => setOpen(""), when: () => open !== "" } }, "Nodes");
  return (
    <div class="card nodes">
      <Scroll label="Nodes">
        <table ref={table}>
          <caption class="visually-hidden">Nodes by pool and name</caption>
          <thead>
            <tr>
              <th>Node</th>
              <th>State</th>
              <th>Encodes</th>
              <th class="number">Inspects</th>
              <th>Pool and labels</th>
              <th>Machine</th>
              <th>ffmpeg</th>
              <th class="number disk">Disk free</th>
              <th>
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {nodes.map((node) => (
              <NodeRow
                key={node.id}
                node={node}
                notes={notesOf(node, usual, protocol)}
                isOpen={open === node.id}
                toggle={() => setOpen(open === node.id ? "" : node.id)}
                act={act}
                isBusy={busy === node.id}
              />
            ))}
          </tbody>
        </table>
        {nodes.length === 0 && <p class="none">No node matches.</p>}
      </Scroll>
    </div>
  );
}

function useNodeKeys(
  table: { readonly current: HTMLElement | null },
  nodes: readonly Node[],
  act: (node: Node, verb: NodeVerb) => void,
): void {
  const focused = (): Node | undefined => {
    const id = document.activeElement?.closest<HTMLElement>("tr[data-id]")?.dataset.id;
    return nodes.find((node) => node.id === id);
  };
  const move = (step: number): void => {
    const buttons = [...(table.current?.querySelectorAll<HTMLElement>(".open") ?? [])];
    const id = focused()?.id;
    const at = buttons.findIndex((button) => button.closest("tr")?.dataset.id === id);
    buttons[Math.min(buttons.length - 1, Math.max(0, at + step))]?.focus();
  };
  const change = (verb: (node: Node) => NodeVerb) => (): void => {
    const node = focused();
    if (node) act(node, verb(node));
  };
  useKeys(
    {
      "j, ArrowDown": { help: "Next node", run: () => move(1) },
      "k, ArrowUp": { help: "Previous node", run: () => move(-1) },
      c: {
        help: "Cordon or uncordon the node",
        run: change(({ state }) => (state === "ready" ? "cordon" : "uncordon")),
      },
      d: { help: "Drain the node", run: change(() => "drain") },
    },
    "Nodes",
  );
}
