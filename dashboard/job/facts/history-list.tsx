// The history of a job as a list.
import { useState } from "preact/hooks";
import { clock } from "../../core/format.ts";
import { Check } from "../../parts/controls/form.tsx";
import { First } from "../../parts/first.tsx";
import type { LogEntry } from "../live/observed-log.ts";

const SIGNS = { info: "·", good: "✓", bad: "✕" } as const;
/** The rest is shown on request: a job of many chunks has hundreds of entries. */
const SHOWN = 100;

export function HistoryList({ entries }: { readonly entries: readonly LogEntry[] }) {
  const [onlyBad, showOnlyBad] = useState(false);
  const wanted = onlyBad ? entries.filter(({ kind }) => kind === "bad") : entries;
  return (
    <div class="stack">
      <Check label="Only failures" checked={onlyBad} set={showOnlyBad} />
      <First of={wanted} count={SHOWN}>
        {(first) => (
          <ol class="history">
            {first.map(({ atMs, text, kind }, at) => (
              <li key={wanted.length - at} class={kind}>
                <time dateTime={new Date(atMs).toISOString()}>{clock(atMs)}</time>
                <span aria-hidden="true">{SIGNS[kind]}</span>
                <span>{text}</span>
              </li>
            ))}
          </ol>
        )}
      </First>
      {wanted.length === 0 && <p class="muted">Nothing.</p>}
    </div>
  );
}
