// The palette: finds the visible shortcuts, saved views and jobs by typing. It is part of the first page: letters that
// are typed before its script arrived would be shortcuts.
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { shortcutGroups } from "../core/keyboard.ts";
import { navigate } from "../core/location.ts";
import { preferences } from "../core/preferences.ts";
import { copra } from "../core/service.ts";
import { account, isOpen } from "../core/session.ts";
import { SETTINGS_TABS } from "../core/settings-tabs.ts";
import { nameOf } from "../jobs/rows.ts";
import { Dialog } from "../parts/overlays/dialog.tsx";
import { Keys } from "./keys.tsx";
import { type Entry, entriesOf, matching } from "./palette-entries.ts";
import "./palette.css";

/** Jobs are searched after this pause in typing. */
const TYPING_MS = 200;
const MAX_JOBS = 6;

export function Palette({ close }: { readonly close: () => void }) {
  const [text, setText] = useState("");
  const [chosen, choose] = useState(0);
  const jobs = useJobs(text.trim());
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const entries = [
    ...matching(entriesOf(shortcutGroups.value, preferences.value.views, SETTINGS_TABS.filter(isOpen)), text),
    ...jobs,
  ];
  const at = Math.min(chosen, entries.length - 1);
  useEffect(() => list.current?.children[at]?.scrollIntoView({ block: "nearest" }), [at]);
  const run = (entry: Entry | undefined): void => {
    if (!entry) return;
    close();
    // The dialog first gives the focus back.
    setTimeout(() => ("to" in entry ? navigate(entry.to) : entry.run()));
  };
  const move = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined) choose((at + step + entries.length) % Math.max(1, entries.length));
    else if (event.key === "Enter") run(entries[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to …" close={close}>
      <div class="palette">
        <input
          type="text"
          role="combobox"
          aria-label="A page, command, view or job"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={entries.length > 0 ? `${id}-${at}` : undefined}
          placeholder="A page, a command, a view, or a job by id, source or output path"
          autoFocus
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            choose(0);
          }}
          onKeyDown={move}
        />
        <div id={id} ref={list} role="listbox" aria-label="Results">
          {entries.map((entry, place) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keyboard.
            <div
              key={entry.key}
              id={`${id}-${place}`}
              role="option"
              aria-selected={place === at}
              tabIndex={-1}
              onClick={() => run(entry)}
            >
              <span class="ellipsis">{entry.text}</span>
              <span class="muted">{entry.keys === undefined ? entry.kind : <Keys keys={entry.keys} />}</span>
            </div>
          ))}
        </div>
        {entries.length === 0 && <p class="muted">Nothing found</p>}
      </div>
    </Dialog>
  );
}

/** The newest jobs that contain a text. */
function useJobs(text: string): readonly Entry[] {
  const [entries, setEntries] = useState<readonly Entry[]>([]);
  useEffect(() => {
    if (text.length < 2 || account.peek() === null) return setEntries([]);
    const abort = new AbortController();
    const search = async (): Promise<void> => {
      const { jobs } = await copra.jobs.page({ q: text, limit: MAX_JOBS }, { signal: abort.signal });
      setEntries(jobs.map((job) => ({ key: job.id, kind: "job", text: nameOf(job).name, to: `/jobs/${job.id}` })));
    };
    // A failed search shows no jobs here; the list of jobs shows the error.
    const timer = setTimeout(() => search().catch(() => undefined), TYPING_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);
  return entries;
}
