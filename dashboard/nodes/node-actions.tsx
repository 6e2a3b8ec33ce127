// Cordon, uncordon and drain.
import { useState } from "preact/hooks";
import type { Node } from "../../client/index.ts";
import { admin } from "../core/service.ts";
import { confirm } from "../parts/overlays/dialog.tsx";
import { toast, toastError } from "../parts/overlays/toasts.tsx";

export type NodeVerb = "cordon" | "uncordon" | "drain";

const DONE = {
  cordon: "gets no more work",
  uncordon: "gets work again",
  drain: "finishes its tasks, then ends",
} as const satisfies Record<NodeVerb, string>;

/** Changes a node; `busy` is the one that is being changed. */
export function useNodeAction(onChange: () => void) {
  const [busy, setBusy] = useState<string>();
  const change = async ({ id }: Node, verb: NodeVerb): Promise<void> => {
    if (verb === "drain" && !(await confirmDrain(id))) return;
    setBusy(id);
    try {
      await admin.nodes[verb](id);
      toast(`${id} ${DONE[verb]}`);
      onChange();
    } catch (error) {
      toastError(error);
    }
    setBusy(undefined);
  };
  const act = (node: Node, verb: NodeVerb): void => void change(node, verb);
  return { act, busy };
}

const confirmDrain = (id: string): Promise<boolean> =>
  confirm({
    title: `Drain ${id}?`,
    text: (
      <p>
        The node gets no more work, finishes its tasks, and its process ends. It returns when it is started again on its
        machine.
      </p>
    ),
    action: `Drain ${id}`,
    danger: true,
  });

export function NodeActions({
  node,
  act,
  isBusy,
}: {
  readonly node: Node;
  readonly act: (node: Node, verb: NodeVerb) => void;
  readonly isBusy: boolean;
}) {
  const isOpen = node.state === "ready";
  return (
    <span class="actions">
      <button
        type="button"
        aria-label={`${isOpen ? "Cordon" : "Uncordon"} ${node.id}`}
        disabled={isBusy}
        onClick={() => act(node, isOpen ? "cordon" : "uncordon")}
      >
        {isOpen ? "Cordon" : "Uncordon"}
      </button>
      {node.state !== "draining" && node.state !== "offline" && (
        <button type="button" aria-label={`Drain ${node.id}`} disabled={isBusy} onClick={() => act(node, "drain")}>
          Drain
        </button>
      )}
    </span>
  );
}
