// The history of a job as a list.
import { useState } from "preact/hooks";
import { clock } from "../../core/format.ts";
import type { LogEntry } from "../live/observed-log.ts";

const SIGNS = { info: "·", good: "✓", bad: "✕" } as const;
/** The rest is shown on request: a job of many chunks has hundreds of entries. */
const SHOWN = 100;

export function HistoryList({ entries }: { readonly entries: readonly LogEntry[] }) {
  const [onlyBad, showOnlyBad] = useState(false);
  const [all, showAll] = useState(false);
  const wanted = onlyBad ? entries.filter(({ kind }) => kind === "bad") : entries;
  return (
    <div class="stack">
      <label class="check">
        <input type="checkbox" checked={onlyBad} onChange={(event) => showOnlyBad(event.currentTarget.checked)} />
        Only failures
      </label>
      <ol class="history">
        {(all ? wanted : wanted.slice(0, SHOWN)).map(({ atMs, text, kind }, at) => (
          <li key={wanted.length - at} class={kind}>
            <time dateTime={new Date(atMs).toISOString()}>{clock(atMs)}</time>
            <span aria-hidden="true">{SIGNS[kind]}</span>
            <span>{text}</span>
          </li>
        ))}
      </ol>
      {wanted.length === 0 && <p class="muted">Nothing.</p>}
      {!all && wanted.length > SHOWN && (
        <button type="button" onClick={() => showAll(true)}>
          Show all {wanted.length}
        </button>
      )}
    </div>
  );
}
