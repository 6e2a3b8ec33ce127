// The operator's nodes: properties, work, and reasons why they get no work.
import { useRef, useState } from "preact/hooks";
import type { Node } from "../../client/index.ts";
import { count } from "../core/format.ts";
import { useKeys } from "../core/keyboard.ts";
import { query, setQuery } from "../core/location.ts";
import { admin } from "../core/service.ts";
import { session } from "../core/session.ts";
import { Button } from "../parts/controls/button.tsx";
import { LiveButton } from "../parts/controls/live-button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Facts } from "../parts/facts.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { usePolled } from "../parts/use-resource.ts";
import { AddNode } from "./add-node.tsx";
import { Demand } from "./demand.tsx";
import { matches, type NodeFilter, STATES, totalLoad } from "./fleet.ts";
import { ManyActions } from "./node-actions.tsx";
import { NodeTable } from "./node-table.tsx";
import "./nodes.css";

const POLL_MS = 5000;
/** A list of this many nodes is long, and is read less often. */
const MANY = 200;
const POLL_MANY_MS = 15_000;

export default function NodesPage() {
  if (session.value && !session.value.operator)
    return (
      <Empty title="Nodes are the operator's">
        <p>Sign in with the admin token to see them.</p>
      </Empty>
    );
  return <Fleet />;
}

/** The filter in the URL. */
function useFilter(): readonly [NodeFilter, (changes: Partial<NodeFilter>) => void] {
  const words = (query.value.get("state") ?? "").split(",");
  const filter = { q: query.value.get("q") ?? "", states: STATES.filter((state) => words.includes(state)) };
  const change = (changes: Partial<NodeFilter>): void => {
    const { q, states } = { ...filter, ...changes };
    setQuery({ q, state: states.join(",") });
  };
  return [filter, change];
}

function Fleet() {
  const number = useRef(0);
  const pollMs = number.current > MANY ? POLL_MANY_MS : POLL_MS;
  const loaded = usePolled((signal) => admin.nodes.list({ signal }), [], pollMs);
  number.current = loaded.value?.length ?? 0;
  const demand = usePolled((signal) => admin.autoscale({ signal }), [], POLL_MS);
  const [isAdding, setIsAdding] = useState(false);
  return (
    <>
      <div class="page-head">
        <h1>Nodes</h1>
        <LiveButton />
        <Button text="Add a node" class="primary" onClick={() => setIsAdding(true)} />
      </div>
      {isAdding && <AddNode nodes={loaded.value ?? []} close={() => setIsAdding(false)} />}
      <Loaded of={loaded} what="nodes">
        {(nodes) =>
          nodes.length === 0 ? (
            <NoNodes />
          ) : (
            <List nodes={nodes} waiting={demand.value?.encode.waiting} reload={loaded.reload} />
          )
        }
      </Loaded>
      {demand.value && <Demand demand={demand.value} />}
    </>
  );
}

type ListProps = { readonly nodes: readonly Node[]; readonly waiting: number | undefined; readonly reload: () => void };

function List({ nodes, waiting, reload }: ListProps) {
  const [filter, changeFilter] = useFilter();
  const matching = nodes.filter((node) => matches(node, filter));
  return (
    <div class="stack">
      <FleetFigures nodes={nodes} waiting={waiting} />
      <div class="row">
        <FleetSearch nodes={nodes} filter={filter} change={changeFilter} />
        <ManyActions nodes={matching} onChange={reload} />
      </div>
      <NodeTable
        nodes={matching.slice(0, MANY)}
        all={nodes}
        open={query.value.get("node") ?? ""}
        setOpen={(id) => setQuery({ node: id })}
        onChange={reload}
      />
      {matching.length > MANY && <p class="muted">And {count(matching.length - MANY)} more: search for them.</p>}
    </div>
  );
}

function FleetFigures({ nodes, waiting }: Omit<ListProps, "reload">) {
  const encode = totalLoad(nodes, "encode");
  const inspect = totalLoad(nodes, "inspect");
  const ready = nodes.filter(({ state }) => state === "ready").length;
  return (
    <Facts
      look="key-figures"
      facts={[
        ["Nodes ready", `${count(ready)} of ${count(nodes.filter(({ state }) => state !== "gone").length)}`],
        ["Encode slots in use", `${count(encode.running)} of ${count(encode.total)}`],
        ["Sources being read", count(inspect.running)],
        ["Tasks that wait", count(waiting)],
      ]}
    />
  );
}

function NoNodes() {
  return (
    <Empty title="No node is connected">
      <p>
        <em>Add a node</em> shows the commands for a machine with Node.js. The node connects by itself, and needs no
        open port. Until then, jobs wait for up to a day.
      </p>
    </Empty>
  );
}

/** Search, and states with their counts. */
function FleetSearch({
  nodes,
  filter,
  change,
}: {
  readonly nodes: readonly Node[];
  readonly filter: NodeFilter;
  readonly change: (changes: Partial<NodeFilter>) => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  useKeys({ "/": { help: "Search", run: () => field.current?.select() } });
  const toggle = (state: Node["state"]): void =>
    change({ states: STATES.filter((other) => filter.states.includes(other) !== (other === state)) });
  return (
    <search class="row">
      <input
        ref={field}
        type="search"
        aria-label="Search nodes"
        placeholder="Name, pool, label, host, ffmpeg"
        value={filter.q}
        onInput={(event) => change({ q: event.currentTarget.value })}
      />
      {STATES.map((state) => {
        const number = nodes.filter((node) => node.state === state).length;
        const isOn = filter.states.includes(state);
        if (number === 0 && !isOn) return null;
        return (
          <button type="button" class="filter-chip" key={state} aria-pressed={isOn} onClick={() => toggle(state)}>
            {state.replace("_", " ")} <span class="number muted">{count(number)}</span>
          </button>
        );
      })}
    </search>
  );
}
