// The nodes as rows. j and k move between them, Enter opens the details.
import { Fragment } from "preact";
import { useRef } from "preact/hooks";
import type { Node } from "../../client/index.ts";
import { bytes } from "../core/format.ts";
import { useKeys } from "../core/keyboard.ts";
import { Icon } from "../parts/icon.tsx";
import { Scroll } from "../parts/scroll.tsx";
import { Status } from "../parts/status.tsx";
import { type Load, loadOf, type Note, newestProtocol, notesOf, usualVersions } from "./fleet.ts";
import { NodeActions, useNodeAction } from "./node-actions.tsx";
import { NodeDetail } from "./node-detail.tsx";

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
  const focused = (): Node | undefined => {
    const id = document.activeElement?.closest<HTMLElement>("tr[data-id]")?.dataset.id;
    return nodes.find((node) => node.id === id);
  };
  const move = (step: number): void => {
    const buttons = [...(table.current?.querySelectorAll<HTMLElement>(".open") ?? [])];
    const node = focused();
    const at = buttons.findIndex((button) => button.closest<HTMLElement>("tr")?.dataset.id === node?.id);
    buttons[Math.min(buttons.length - 1, Math.max(0, at + step))]?.focus();
  };
  useKeys(
    {
      "j, ArrowDown": { help: "Next node", run: () => move(1) },
      "k, ArrowUp": { help: "Previous node", run: () => move(-1) },
      c: {
        help: "Cordon or uncordon the node",
        run: () => {
          const node = focused();
          if (node) act(node, node.state === "ready" ? "cordon" : "uncordon");
        },
      },
      d: {
        help: "Drain the node",
        run: () => {
          const node = focused();
          if (node) act(node, "drain");
        },
      },
      Escape: { help: "Close the details", run: () => setOpen(""), when: () => open !== "" },
    },
    "Nodes",
  );
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
              <th class="number">Disk free</th>
              <th>
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {nodes.map((node) => (
              <Fragment key={node.id}>
                <tr data-id={node.id}>
                  <th scope="row">
                    <button
                      type="button"
                      class="quiet open"
                      aria-expanded={open === node.id}
                      onClick={() => setOpen(open === node.id ? "" : node.id)}
                    >
                      <Icon name="chevron" /> {node.id}
                    </button>
                  </th>
                  <td>
                    <Status status={node.state} />
                  </td>
                  <td>
                    <LoadBar load={loadOf(node, "encode")} name={node.id} />
                  </td>
                  <td class="number">{node.slots.inspect.running}</td>
                  <td>
                    {node.pool} <small>{node.labels.join(" ")}</small>
                  </td>
                  <td>{machineOf(node)}</td>
                  <td>
                    {node.ffmpeg ?? "–"}
                    <Notes notes={notesOf(node, usual, protocol)} />
                  </td>
                  <td class="number">{bytes(node.disk?.free_bytes)}</td>
                  <td class="number">
                    <NodeActions node={node} act={act} isBusy={busy === node.id} />
                  </td>
                </tr>
                {open === node.id && (
                  <tr class="details">
                    <td colSpan={9}>
                      <NodeDetail id={node.id} notes={notesOf(node, usual, protocol)} />
                    </td>
                  </tr>
                )}
              </Fragment>
            ))}
          </tbody>
        </table>
        {nodes.length === 0 && <p class="none">No node matches.</p>}
      </Scroll>
    </div>
  );
}

function machineOf({ cpus, hardware }: Node): string {
  const parts = [cpus === null ? null : `${cpus} CPUs`, hardware].filter((part) => part !== null);
  return parts.length === 0 ? "–" : parts.join(", ");
}

/** How many of the slots have a task: a box for each of few, or a bar. */
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

function Notes({ notes }: { readonly notes: readonly Note[] }) {
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
