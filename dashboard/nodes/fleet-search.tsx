import { useRef } from "preact/hooks";
import type { Node } from "../../client/index.ts";
import { count } from "../core/format.ts";
import { useKeys } from "../core/keyboard.ts";
import { type NodeFilter, STATES } from "./fleet.ts";

/** Search and states with their numbers. */
export function FleetSearch({
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
    change({ states: STATES.filter((one) => filter.states.includes(one) !== (one === state)) });
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
