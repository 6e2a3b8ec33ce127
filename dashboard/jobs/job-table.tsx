// The list of jobs. j and k move the focus between the links of its rows.
import { useCallback, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Job } from "../../client/index.ts";
import { useKeys } from "../core/keyboard.ts";
import { focusedRow, focusRow, moveFocus, rowsOf } from "../core/row-focus.ts";
import { Icon } from "../parts/icon.tsx";
import { type ColumnName, column, columnsOf } from "./columns.tsx";
import type { View } from "./filter.ts";
import { classOf, JobRow } from "./job-row.tsx";
import { reasonOf, sharedReasons } from "./rows.ts";
import { showView } from "./show-view.ts";
import { imageOf } from "./thumbnail.tsx";

/** The job whose row had the focus when its page was opened. The row gets the focus again after "back". */
let opened: string | undefined;

type TableProps = {
  readonly view: View;
  readonly jobs: readonly Job[];
  readonly selected: ReadonlySet<string>;
  readonly select: (ids: readonly string[], isSelected: boolean) => void;
  readonly isLoading: boolean;
};

export function JobTable({ view, jobs, selected, select, isLoading }: TableProps) {
  const table = useRef<HTMLTableElement>(null);
  const selectOne = useCallback((id: string, isSelected: boolean) => select([id], isSelected), [select]);
  // Without tags on the page there is no column for them.
  const hasTags = jobs.some(({ tags }) => tags);
  const names = columnsOf(view).filter((name) => name !== "tags" || hasTags);
  const columns = useMemo(() => names, [names.join()]);
  const texts = columns.filter((name) => column(name).isText).length;
  useRowKeys(table, selected, select);
  useLayoutEffect(() => {
    if (opened !== undefined) focusRow(rowsOf(table.current).find((row) => row.dataset.id === opened));
    return () => {
      opened = focusedRow()?.dataset.id;
    };
  }, []);
  const shared = sharedReasons(jobs);
  return (
    <div class="card jobs">
      {[...shared].map(([reason = "", number]) => (
        <div class="notice warn" key={reason}>
          <Icon name="warning" />
          <div>{`${number} of these jobs wait for ${reasonOf(reason)}.`}</div>
        </div>
      ))}
      <table
        ref={table}
        class={jobs.some(imageOf) ? undefined : "imageless"}
        aria-busy={isLoading}
        style={{ "--texts": texts, "--others": columns.length - texts }}
      >
        <caption class="visually-hidden">Jobs</caption>
        <Head view={view} columns={columns} jobs={jobs} selected={selected} select={select} />
        <tbody>
          {jobs.map((job) => (
            <JobRow
              key={job.id}
              job={job}
              isSelected={selected.has(job.id)}
              sharesReason={shared.has(job.waiting_for)}
              select={selectOne}
              columns={columns}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

type HeadProps = Omit<TableProps, "isLoading"> & { readonly columns: readonly ColumnName[] };

function Head({ view, columns, jobs, selected, select }: HeadProps) {
  const chosen = jobs.filter(({ id }) => selected.has(id)).length;
  return (
    <thead>
      <tr>
        <th class="check">
          <label>
            <input
              type="checkbox"
              aria-label="Select all jobs of this page"
              checked={chosen > 0 && chosen === jobs.length}
              ref={(box) => {
                if (box) box.indeterminate = chosen > 0 && chosen < jobs.length;
              }}
              onChange={(event) =>
                select(
                  jobs.map(({ id }) => id),
                  event.currentTarget.checked,
                )
              }
            />
          </label>
        </th>
        <th class="image">
          <span class="visually-hidden">Image</span>
        </th>
        <th>Job</th>
        <th class="state">Status</th>
        {columns.map((name) => (
          <Heading key={name} view={view} name={name} />
        ))}
      </tr>
    </thead>
  );
}

/** The title of a column: a button if the list can be in its order. */
function Heading({ view, name }: { readonly view: View; readonly name: ColumnName }) {
  const { title, sort } = column(name);
  if (sort === undefined) return <th class={classOf(name)}>{title}</th>;
  const isSorted = view.sort === sort;
  return (
    <th class={classOf(name)} aria-sort={isSorted ? "descending" : undefined}>
      <button type="button" class="quiet sort" onClick={() => showView(view, { sort })}>
        {title}
        {isSorted && <span aria-hidden="true">↓</span>}
      </button>
    </th>
  );
}

/** The ids of the jobs whose rows are in the window. */
export function visibleIds(): string[] {
  return rowsOf(document.querySelector(".jobs table")).flatMap((row) => {
    const { top, bottom } = row.getBoundingClientRect();
    return bottom > 0 && top < innerHeight && row.dataset.id ? [row.dataset.id] : [];
  });
}

function useRowKeys(
  table: { readonly current: HTMLElement | null },
  selected: ReadonlySet<string>,
  select: TableProps["select"],
): void {
  const toggle = (): void => {
    const id = focusedRow()?.dataset.id;
    if (id !== undefined) select([id], !selected.has(id));
  };
  useKeys(
    {
      "j, ArrowDown": { help: "Next job", run: () => moveFocus(table.current, 1) },
      "k, ArrowUp": { help: "Previous job", run: () => moveFocus(table.current, -1) },
      Enter: {
        help: "Open the job",
        run: () => focusedRow()?.querySelector<HTMLElement>("a.name")?.click(),
        when: () => focusedRow() !== null,
      },
      x: { help: "Select the job", run: toggle },
      a: {
        help: "Select all jobs of this page",
        run: () =>
          select(
            rowsOf(table.current).flatMap(({ dataset }) => dataset.id ?? []),
            true,
          ),
      },
      Escape: { help: "Select none", run: () => select([...selected], false), when: () => selected.size > 0 },
    },
    "List of jobs",
  );
}
