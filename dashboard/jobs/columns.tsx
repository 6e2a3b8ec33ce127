// The columns of the list that a person can choose: in the URL, or else in this browser.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Job } from "../../client/index.ts";
import { duration, short, took } from "../core/format.ts";
import { prefer, preferences } from "../core/preferences.ts";
import { now } from "../core/time.ts";
import { Time } from "../parts/time.tsx";
import type { Sort, View } from "./filter.ts";
import { JobTags } from "./job-tags.tsx";
import { isEnded, nameOf, outputsOf, secondsOf } from "./rows.ts";
import { showView } from "./show-view.ts";

type Cell = (props: { readonly job: Job }) => ComponentChildren;
type Column = { readonly title: string; readonly cell: Cell; readonly isText?: true; readonly sort?: Sort };

export const COLUMNS = {
  source: { title: "Source", cell: ({ job }) => <Text text={nameOf(job).place} />, isText: true },
  formats: { title: "Formats", cell: Formats, isText: true },
  template: { title: "Template", cell: ({ job }) => <Text text={job.template} />, isText: true },
  tags: { title: "Tags", cell: ({ job }) => <JobTags tags={job.tags} />, isText: true },
  outputs: { title: "Outputs", cell: Outputs },
  created: { title: "Created", cell: ({ job }) => <Time at={job.created_at} />, sort: "" },
  ended: { title: "Ended", cell: ({ job }) => job.completed_at && <Time at={job.completed_at} />, sort: "ended" },
  took: { title: "Took", cell: Took, sort: "took" },
  speed: { title: "Speed", cell: ({ job }) => job.speed !== undefined && `${short(job.speed)}×` },
} as const satisfies Record<string, Column>;
export type ColumnName = keyof typeof COLUMNS;

export const column = (name: ColumnName): Column => COLUMNS[name];
const NAMES = Object.keys(COLUMNS) as ColumnName[];
const DEFAULT = "tags,outputs,created,took";

const chosen = (view: View): string => view.columns || (preferences.value.columns ?? DEFAULT);
const known = (names: string): ColumnName[] => NAMES.filter((name) => names.split(",").includes(name));

/** The columns of a view: the chosen columns, and the column of its order. */
export const columnsOf = (view: View): readonly ColumnName[] => known(`${chosen(view)},${view.sort}`);

/** The view with its columns, for another browser or another time. "" are the usual columns. */
export const withColumns = (view: View): View => ({ ...view, columns: chosen(view) === DEFAULT ? "" : chosen(view) });

export function ColumnChoice({ view }: { readonly view: View }) {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const closeBeside = ({ target }: Event): void => {
      if (menu.current?.open && target instanceof Node && !menu.current.contains(target)) menu.current.open = false;
    };
    document.addEventListener("click", closeBeside);
    return () => document.removeEventListener("click", closeBeside);
  }, []);
  const names = known(chosen(view));
  const toggle = (name: ColumnName): void => {
    const columns = NAMES.filter((other) => names.includes(other) !== (other === name)).join(",") || "none";
    prefer({ columns });
    if (view.columns !== "") showView(view, { columns });
  };
  return (
    <details ref={menu} class="column-choice">
      <summary class="button">Columns</summary>
      <fieldset>
        <legend class="visually-hidden">Columns</legend>
        {NAMES.map((name) => (
          <label key={name}>
            <input type="checkbox" checked={names.includes(name)} onChange={() => toggle(name)} /> {COLUMNS[name].title}
          </label>
        ))}
      </fieldset>
    </details>
  );
}

function Text({ text = "" }: { readonly text: string | undefined }) {
  return (
    <span class="ellipsis" title={text}>
      {text}
    </span>
  );
}

function Formats({ job }: { readonly job: Job }) {
  return <Text text={[...new Set(job.outputs.map(({ format }) => format))].join(" · ")} />;
}

function Outputs({ job }: { readonly job: Job }) {
  const { done, total } = outputsOf(job);
  return <>{done === total ? done : `${done} of ${total}`}</>;
}

/** A component of its own, because its text changes each second. */
function Took({ job }: { readonly job: Job }) {
  const seconds = secondsOf(job, isEnded(job) ? 0 : now.value);
  if (seconds === null) return null;
  return <>{isEnded(job) ? took(seconds) : duration(Math.max(1, Math.floor(seconds)))}</>;
}
