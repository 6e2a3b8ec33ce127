// The nodes as rows. j and k move between them, Enter opens the details.
import { useRef } from "preact/hooks";
import type { Node } from "../../client/index.ts";
import { bytes } from "../core/format.ts";
import { useKeys } from "../core/keyboard.ts";
import { focusedRow, moveFocus } from "../core/row-focus.ts";
import { Icon } from "../parts/icon.tsx";
import { Scroll } from "../parts/scroll.tsx";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { type Load, loadOf, type Note, notesOf, usualVersions } from "./fleet.ts";
import { NodeActions, type NodeVerb, useNodeAction, verbsOf } from "./node-actions.tsx";
import { NodeDetail } from "./node-detail.tsx";

type TableProps = {
  readonly nodes: readonly Node[];
  /** All nodes, also those without a row because of the filter. */
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
                notes={notesOf(node, usual)}
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
  const change = (verb: (node: Node) => NodeVerb) => (): void => {
    const id = focusedRow()?.dataset.id;
    const node = nodes.find((candidate) => candidate.id === id);
    if (node && verbsOf(node).includes(verb(node))) act(node, verb(node));
  };
  useKeys(
    {
      "j, ArrowDown": { help: "Next node", run: () => moveFocus(table.current, 1) },
      "k, ArrowUp": { help: "Previous node", run: () => moveFocus(table.current, -1) },
      c: {
        help: "Cordon or uncordon the node",
        run: change((node) => (verbsOf(node).includes("cordon") ? "cordon" : "uncordon")),
      },
      d: { help: "Drain the node", run: change(() => "drain") },
    },
    "Nodes",
  );
}

/** A node of the list, with its details below. */
type RowProps = {
  readonly node: Node;
  readonly notes: readonly Note[];
  readonly isOpen: boolean;
  readonly toggle: () => void;
  readonly act: (node: Node, verb: NodeVerb) => void;
  readonly isBusy: boolean;
};

function NodeRow({ node, notes, isOpen, toggle, act, isBusy }: RowProps) {
  return (
    <>
      <tr data-id={node.id}>
        <th scope="row">
          <button type="button" class="quiet open" aria-expanded={isOpen} onClick={toggle}>
            <Icon name="chevron" /> {node.id}
          </button>
        </th>
        <td>
          <Status status={node.state} />
          {node.last_seen_at !== null && (
            <small>
              {" "}
              <Time at={node.last_seen_at} />
            </small>
          )}
        </td>
        <td>
          <LoadBar load={loadOf(node, "encode")} name={node.id} />
        </td>
        <td class="number">{node.slots.inspect.running}</td>
        <td>
          {node.pool} <small>{node.labels.join(" ")}</small>
        </td>
        <td>
          {node.cpus === null ? "–" : `${node.cpus} CPUs`} <small>{node.hardware}</small>
        </td>
        <td class="ffmpeg">
          {node.ffmpeg ?? "–"}
          <Warnings notes={notes} />
        </td>
        <td class="number disk">{bytes(node.disk?.free_bytes)}</td>
        <td class="number">
          <NodeActions node={node} act={act} isBusy={isBusy} />
        </td>
      </tr>
      {isOpen && (
        <tr class="details">
          <td colSpan={9}>
            <NodeDetail id={node.id} notes={notes} />
          </td>
        </tr>
      )}
    </>
  );
}

/** The share of slots with a task. */
function LoadBar({ load: { running, total }, name }: { readonly load: Load; readonly name: string }) {
  return (
    <span class="load">
      <meter min={0} max={Math.max(1, total)} value={running} aria-label={`Encode slots in use of ${name}`} />
      <span class="number">
        {running} of {total}
      </span>
    </span>
  );
}

function Warnings({ notes }: { readonly notes: readonly Note[] }) {
  const warnings = notes.filter(({ kind }) => kind === "warn");
  if (warnings.length === 0) return null;
  const text = warnings.map((note) => note.text).join(". ");
  return (
    <span class="note" title={text}>
      <Icon name="warning" />
      <span class="visually-hidden">{text}</span>
    </span>
  );
}
