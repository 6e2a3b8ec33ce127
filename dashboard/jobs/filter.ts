// The filter of the page of jobs: its state in the URL, and the API's parameters. Pure.
import type { JobFilter, JobListOptions, JobStatus } from "../../client/index.ts";
import { MAX_FILTER_TAGS, TAG_NAME, TAG_PREFIX, takeTags } from "../../shared/job/tag-query.ts";

export const STATUSES = [
  "job.starting",
  "job.completed",
  "job.failed",
  "job.aborted",
] as const satisfies readonly JobStatus[];

/** Names of statuses for people. `job.starting` is also the status of waiting jobs. */
export const STATUS_WORDS = {
  "job.starting": "active",
  "job.completed": "completed",
  "job.failed": "failed",
  "job.aborted": "canceled",
} as const satisfies Record<JobStatus, string>;

/** Orders besides the newest jobs first, which is "". */
export type Sort = "" | "ended" | "took";

/** The filter in the URL. Days are `YYYY-MM-DD` in the time zone of the browser, both included. */
export type View = {
  readonly q: string;
  /** Empty: any status. */
  readonly statuses: readonly JobStatus[];
  /** A day, or a number of last days, today included, such as `7d`. */
  readonly from: string;
  readonly to: string;
  /** Tags of the jobs: up to three. */
  readonly tags: Readonly<Record<string, string>>;
  readonly sort: Sort;
  /** Names of columns, separated by commas; "": the columns that this browser prefers. */
  readonly columns: string;
  /** The start of the page; "": the first job. */
  readonly cursor: string;
};

/** The longest text that the API searches for. */
export const MAX_TEXT = 200;
const DAY = /^\d{4}-\d\d-\d\d$/;
const LAST_DAYS = /^([1-9]\d{0,2})d$/;
const wordOf = (status: JobStatus): string => status.replace("job.", "");

/** The view of a query, without invalid values. */
export function viewOf(query: URLSearchParams): View {
  const words = (query.get("status") ?? "").split(",");
  const sort = query.get("sort");
  const day = (name: string): string => {
    const text = query.get(name) ?? "";
    const isLast = name === "from" && LAST_DAYS.test(text);
    return isLast || (DAY.test(text) && !Number.isNaN(Date.parse(text))) ? text : "";
  };
  return {
    q: (query.get("q") ?? "").slice(0, MAX_TEXT),
    statuses: STATUSES.filter((status) => words.includes(wordOf(status))),
    from: day("from"),
    to: day("to"),
    tags: limited(takeTags(Object.fromEntries(query)).tags),
    sort: sort === "ended" || sort === "took" ? sort : "",
    columns: query.get("columns") ?? "",
    cursor: query.get("cursor") ?? "",
  };
}

/** The longest value of a tag. */
export const MAX_VALUE = 256;

/** The valid tags of a filter, up to the API's limit. */
export const limited = (tags: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(tags)
      .filter(([name, value]) => TAG_NAME.test(name) && value !== "" && value.length <= MAX_VALUE)
      .slice(0, MAX_FILTER_TAGS),
  );

/** The parameters of the URL for a view; "" for unused parameters. */
export const paramsOf = ({ statuses, tags, ...rest }: View): Record<string, string> => ({
  ...rest,
  ...Object.fromEntries(Object.entries(tags).map(([name, value]) => [TAG_PREFIX + name, value])),
  status: statuses.map(wordOf).join(","),
});

/** A view without conditions. */
export const NO_FILTER = { q: "", statuses: [], from: "", to: "", tags: {} } as const satisfies Partial<View>;

/** The URL of the page for a view. */
export function addressOf(view: View): string {
  const text = new URLSearchParams(Object.entries(paramsOf(view)).filter(([, value]) => value !== "")).toString();
  return text === "" ? "/" : `/?${text}`;
}

/** Names of times: the `from` of their views, without a `to`. */
export const TIMES = { "": "Any time", "1d": "Today", "7d": "Last 7 days", "30d": "Last 30 days" } as const;
export type TimeName = keyof typeof TIMES;

/** The name of a view's time; null for other days. */
export const timeOf = ({ from, to }: Pick<View, "from" | "to">): TimeName | null =>
  to === "" && Object.hasOwn(TIMES, from) ? (from as TimeName) : null;

/** The start of a day in ms, in the time zone of the browser. `later` adds days. */
function startOf(day: string, later = 0): number {
  const [, days] = LAST_DAYS.exec(day) ?? [];
  if (days !== undefined) {
    const today = new Date();
    return new Date(today.getFullYear(), today.getMonth(), today.getDate() + 1 - Number(days)).getTime();
  }
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + later).getTime();
}

/** The API's filter, without the position in the list. */
export function filterOf({ q, statuses, from, to, tags }: View): JobFilter {
  const text = q.trim();
  return {
    ...(text === "" ? {} : { q: text }),
    ...(statuses.length === 0 ? {} : { status: statuses }),
    ...(from === "" ? {} : { created_after: new Date(startOf(from)).toISOString() }),
    ...(to === "" ? {} : { created_before: new Date(startOf(to, 1)).toISOString() }),
    ...(Object.keys(tags).length === 0 ? {} : { tags }),
  };
}

/** The API's filter and order. */
export const listOf = (view: View): JobListOptions => ({
  ...filterOf(view),
  ...(view.sort === "" ? {} : { sort: view.sort }),
});

/** True if the view leaves jobs out. */
export const isFiltered = ({ q, statuses, from, to, tags }: View): boolean =>
  q.trim() !== "" || Object.keys(tags).length > 0 || statuses.length > 0 || from !== "" || to !== "";

/** Adds a status, or removes it. All statuses become an empty list. */
export function toggled(statuses: readonly JobStatus[], status: JobStatus): readonly JobStatus[] {
  const next = STATUSES.filter((candidate) => statuses.includes(candidate) !== (candidate === status));
  return next.length === STATUSES.length ? [] : next;
}
