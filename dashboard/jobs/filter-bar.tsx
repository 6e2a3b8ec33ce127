// Search, statuses with their counts, and days.
import { useEffect, useRef, useState } from "preact/hooks";
import type { JobCounts } from "../../client/index.ts";
import { count } from "../core/format.ts";
import { useKeys } from "../core/keyboard.ts";
import { Button } from "../parts/controls/button.tsx";
import { Day } from "../parts/controls/form.tsx";
import { Select } from "../parts/controls/select.tsx";
import { Icon } from "../parts/icon.tsx";
import {
  isFiltered,
  MAX_TEXT,
  NO_FILTER,
  STATUS_WORDS,
  STATUSES,
  TIMES,
  timeOf,
  toggled,
  type View,
} from "./filter.ts";
import { SavedViews } from "./saved-views.tsx";
import { showView } from "./show-view.ts";
import { TagFields } from "./tag-fields.tsx";

/** The search starts after this pause in typing. */
const TYPING_MS = 300;

export function FilterBar({ view, counts }: { readonly view: View; readonly counts: JobCounts | undefined }) {
  // On a phone, the fields besides the search are shown on request.
  const [isOpen, open] = useState(false);
  return (
    <search class="filters">
      <SearchField view={view} />
      <Button
        text={isFiltered({ ...view, q: "" }) ? "Filtered" : "Filters"}
        class="show-more"
        aria-expanded={isOpen}
        onClick={() => open(!isOpen)}
      />
      <div class="more" hidden={!isOpen}>
        <fieldset class="chips">
          <legend class="visually-hidden">Status</legend>
          {STATUSES.map((status) => (
            <button
              type="button"
              key={status}
              class="filter-chip"
              aria-pressed={view.statuses.includes(status)}
              onClick={() => showView(view, { statuses: toggled(view.statuses, status) })}
            >
              {STATUS_WORDS[status]}
              <span class="number muted">{numberOf(counts, status)}</span>
            </button>
          ))}
        </fieldset>
        <TimeField view={view} />
        <TagFields tags={view.tags} show={(tags) => showView(view, { tags })} />
        <SavedViews view={view} />
        {isFiltered(view) && (
          <Button icon="close" text="Clear" class="quiet" onClick={() => showView(view, NO_FILTER)} />
        )}
      </div>
    </search>
  );
}

/** `1,284`; `10,000+` above the API's limit for counts. */
function numberOf(counts: JobCounts | undefined, status: string): string {
  if (!counts) return "";
  const number = counts.counts[status] ?? 0;
  return counts.capped && (number === 10_000 || number === 2000) ? `${count(number)}+` : count(number);
}

function SearchField({ view }: { readonly view: View }) {
  const [text, setText] = useState(view.q);
  const field = useRef<HTMLInputElement>(null);
  const latest = useRef(view);
  latest.current = view;
  // Takes the text of the URL after "back", or after a link.
  useEffect(() => {
    if (view.q !== text.trim()) setText(view.q);
  }, [view.q]);
  useEffect(() => {
    if (text.trim() === latest.current.q.trim()) return;
    const timer = setTimeout(() => showView(latest.current, { q: text.trim() }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  useKeys({ "/": { help: "Search", run: () => field.current?.select() } });
  return (
    <div class="search">
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        aria-label="Search jobs"
        placeholder="Id, source or output path"
        aria-keyshortcuts="/"
        maxLength={MAX_TEXT}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && text.trim() !== view.q) showView(view, { q: text.trim() });
          // The keys j and k now move through the list.
          if (event.key === "Enter") event.currentTarget.blur();
        }}
      />
      <span class="hint" aria-hidden="true">
        <kbd>/</kbd>
      </span>
    </div>
  );
}

/** A time by its name, or a first and a last day. */
function TimeField({ view }: { readonly view: View }) {
  const [hasDays, setHasDays] = useState(false);
  const named = timeOf(view);
  const value = named === null || hasDays ? DAYS : named;
  const choose = (next: string): void => {
    setHasDays(next === DAYS);
    if (next !== DAYS) showView(view, { from: next, to: "" });
    // The fields show days, not a number of last days.
    else if (named !== null) showView(view, { from: "", to: "" });
  };
  return (
    <div class="days">
      <Select label="Created" options={{ ...TIMES, [DAYS]: "Days …" }} value={value} choose={choose} />
      {value === DAYS &&
        (["from", "to"] as const).map((name) => (
          <span key={name}>
            {name === "from" ? "From" : "to"}
            <Day
              label={name === "from" ? "Created from this day" : "Created until this day"}
              value={view[name]}
              set={(day) => showView(view, { [name]: day })}
            />
          </span>
        ))}
    </div>
  );
}

const DAYS = "days";
