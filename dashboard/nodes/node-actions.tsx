// Cordon, uncordon, drain and forget.
import { useState } from "preact/hooks";
import type { Node } from "../../client/index.ts";
import { count, plural } from "../core/format.ts";
import { admin } from "../core/service.ts";
import { Button } from "../parts/controls/button.tsx";
import { confirm } from "../parts/overlays/dialog.tsx";
import { report } from "../parts/overlays/toasts.tsx";

export type NodeVerb = "cordon" | "uncordon" | "drain" | "forget";

const DONE = {
  cordon: "gets no more work",
  uncordon: "gets work again",
  drain: "finishes its tasks, then ends",
  forget: "is forgotten",
} as const satisfies Record<NodeVerb, string>;

/** Changes a node; `busy` is the node of the running request. */
export function useNodeAction(onChange: () => void) {
  const [busy, setBusy] = useState<string>();
  const change = async ({ id }: Node, verb: NodeVerb): Promise<void> => {
    if (verb === "drain" && !(await confirmDrain(id))) return;
    setBusy(id);
    if (await report(admin.nodes[verb](id), `${id} ${DONE[verb]}`)) onChange();
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

/** Cordons or uncordons all nodes of the list, for example a pool that the search found. */
export function ManyActions({ nodes, onChange }: { readonly nodes: readonly Node[]; readonly onChange: () => void }) {
  const [isBusy, setBusy] = useState(false);
  const change = async (verb: "cordon" | "uncordon", wanted: readonly Node[]): Promise<void> => {
    setBusy(true);
    const all = async (): Promise<void> => {
      for (const { id } of wanted) await admin.nodes[verb](id);
    };
    await report(all(), `${plural(wanted.length, "node")}: ${verb === "cordon" ? "no more work" : "work again"}`);
    setBusy(false);
    onChange();
  };
  return (["cordon", "uncordon"] as const).map((verb) => {
    const wanted = nodes.filter((node) => verbsOf(node).includes(verb));
    if (wanted.length < 2) return null;
    return (
      <Button
        key={verb}
        text={`${wordOf(verb)} all ${count(wanted.length)}`}
        disabled={isBusy}
        onClick={() => change(verb, wanted)}
      />
    );
  });
}

type ActionsProps = {
  readonly node: Node;
  readonly act: (node: Node, verb: NodeVerb) => void;
  readonly isBusy: boolean;
};

export const NodeActions = ({ node, act, isBusy }: ActionsProps) => (
  <span class="actions">
    {verbsOf(node).map((verb) => (
      <Button key={verb} text={wordOf(verb)} of={node.id} disabled={isBusy} onClick={() => act(node, verb)} />
    ))}
  </span>
);

const wordOf = (verb: NodeVerb): string => `${verb.charAt(0).toUpperCase()}${verb.slice(1)}`;

/** The actions that a node's state allows. */
export function verbsOf({ state }: Node): NodeVerb[] {
  if (state === "gone") return ["forget"];
  if (state === "offline") return ["uncordon", "forget"];
  const mayGetWork = state === "ready" || state === "not_ready";
  return [mayGetWork ? "cordon" : "uncordon", ...(state === "draining" ? [] : (["drain"] as const))];
}
