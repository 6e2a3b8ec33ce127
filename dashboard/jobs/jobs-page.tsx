// The list of jobs: live, with search, filters, and changes of many jobs.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { paused, useAccountEvents } from "../core/account-events.ts";
import { plural } from "../core/format.ts";
import { useKeys } from "../core/keyboard.ts";
import { navigate, query } from "../core/location.ts";
import { focusedRow } from "../core/row-focus.ts";
import { account } from "../core/session.ts";
import { Button } from "../parts/controls/button.tsx";
import { Link } from "../parts/controls/link.tsx";
import { LiveButton } from "../parts/controls/live-button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loading } from "../parts/loading.tsx";
import { Problem } from "../parts/problem.tsx";
import { bulk } from "./bulk.ts";
import { BulkBar } from "./bulk-bar.tsx";
import { BulkResult } from "./bulk-result.tsx";
import { ColumnChoice } from "./columns.tsx";
import { addressOf, type View, viewOf } from "./filter.ts";
import { FilterBar } from "./filter-bar.tsx";
import { JobList, PAGE } from "./job-list.ts";
import { JobTable, visibleIds } from "./job-table.tsx";
import { NoJobs } from "./no-jobs.tsx";
import "./jobs.css";

/** Interval between reads of running jobs. */
const READ_INTERVAL_MS = 3000;
/** Within this distance from the top, rows may be added above. */
const TOP_PX = 80;

const NONE: ReadonlySet<string> = new Set();

export function JobsPage() {
  const view = viewOf(query.value);
  const list = useMemo(() => new JobList(), []);
  const { selected, select, clear } = useSelection(view);
  useLiveList(list, view, selected.size > 0);
  const rows = list.rows.value;
  return (
    <>
      <div class="page-head">
        <h1>Jobs</h1>
        <ColumnChoice view={view} />
        <LiveButton />
        <Link to="/new" class="button primary">
          <Icon name="add" /> New job
        </Link>
      </div>
      <FilterBar view={view} counts={list.counts.value} />
      <Problem error={list.error.value} retry={() => void list.show(view)} />
      <BulkBar view={view} selected={selected} clear={clear} counts={list.counts.value} />
      {list.unseen.value > 0 && (
        <Button text={`Show ${plural(list.unseen.value, "new job")}`} class="unseen" onClick={() => list.refresh()} />
      )}
      {rows === undefined && list.error.value === undefined && <Loading what="jobs" />}
      {rows && rows.length > 0 && (
        <JobTable view={view} jobs={rows} selected={selected} select={select} isLoading={list.isLoading.value} />
      )}
      {rows?.length === 0 && !list.isLoading.value && <NoJobs view={view} next={list.next.value} />}
      {rows && rows.length > 0 && <Pager view={view} next={list.next.value} />}
      <BulkResult />
    </>
  );
}

/** The jobs of a view, whatever its columns. */
const keyOf = (view: View): string => JSON.stringify({ ...view, columns: "" });

/** The selected jobs. Another page or filter clears the selection. */
function useSelection(view: View) {
  const key = keyOf(view);
  const [selection, setSelection] = useState({ key, ids: NONE });
  const selected = selection.key === key ? selection.ids : NONE;
  const select = useCallback(
    (ids: readonly string[], isSelected: boolean) =>
      setSelection((before) => {
        const next = new Set(before.key === key ? before.ids : NONE);
        for (const id of ids) isSelected ? next.add(id) : next.delete(id);
        return { key, ids: next };
      }),
    [key],
  );
  const clear = (): void => setSelection({ key, ids: NONE });
  return { selected, select, clear };
}

function useLiveList(list: JobList, view: View, isSelecting: boolean): void {
  const key = keyOf(view);
  useEffect(() => {
    void list.show(view);
    return () => list.stop();
  }, [key, account.value?.id]);

  const selecting = useRef(isSelecting);
  selecting.current = isSelecting;
  const mayMove = (): boolean => !selecting.current && scrollY < TOP_PX && focusedRow() === null;
  useAccountEvents((event) => list.take(event, mayMove));
  // Without events, the page shows the result of the change, too.
  const isChanging = bulk.value?.isRunning;
  useEffect(() => {
    if (isChanging === false) void list.refresh();
  }, [isChanging]);

  useEffect(() => {
    const timer = setInterval(() => {
      if (!paused.peek() && !document.hidden) void list.readChanging(visibleIds());
    }, READ_INTERVAL_MS);
    return () => clearInterval(timer);
  }, []);
  useKeys({ "g r": { help: "Read the list again", run: () => void list.refresh() } }, "List of jobs");
}

/** Opens a page of the list: older jobs, or back. */
function open(view: View, cursor: string): void {
  navigate(addressOf({ ...view, cursor }));
  scrollTo(0, 0);
}

function Pager({ view, next }: { readonly view: View; readonly next: string | null }) {
  const hasNewer = view.cursor !== "";
  useKeys(
    {
      "]": { help: "Older jobs", run: () => next !== null && open(view, next), when: () => next !== null },
      "[": { help: "The page before", run: () => history.back(), when: () => hasNewer },
    },
    "List of jobs",
  );
  if (next === null && !hasNewer) return null;
  const [first, more] = view.sort === "" ? ["Newest jobs", "Older jobs"] : ["First page", "Next page"];
  return (
    <nav class="pager row" aria-label="Pages of the list">
      {hasNewer && (
        <button type="button" onClick={() => open(view, "")}>
          {first}
        </button>
      )}
      {next !== null && (
        <button type="button" onClick={() => open(view, next)}>
          {more}
        </button>
      )}
      <span class="muted">Pages of {PAGE} jobs</span>
    </nav>
  );
}
