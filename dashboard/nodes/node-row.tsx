// One node of the list, and its details below it.
import type { Node } from "../../client/index.ts";
import { bytes } from "../core/format.ts";
import { Icon } from "../parts/icon.tsx";
import { Status } from "../parts/status.tsx";
import { type Load, loadOf, type Note } from "./fleet.ts";
import { NodeActions, type NodeVerb } from "./node-actions.tsx";
import { NodeDetail } from "./node-detail.tsx";

type RowProps = {
  readonly node: Node;
  readonly notes: readonly Note[];
  readonly isOpen: boolean;
  readonly toggle: () => void;
  readonly act: (node: Node, verb: NodeVerb) => void;
  readonly isBusy: boolean;
};

export function NodeRow({ node, notes, isOpen, toggle, act, isBusy }: RowProps) {
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

/** How many of the slots have a task. */
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
