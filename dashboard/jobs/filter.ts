// Which jobs the page shows: what is in its address, and what the API is asked for. Pure.
import type { JobFilter, JobStatus } from "../../client/index.ts";

export const STATUSES = [
  "job.starting",
  "job.completed",
  "job.failed",
  "job.aborted",
] as const satisfies readonly JobStatus[];

/** As people call them. `job.starting` is the status of jobs that wait, too. */
export const STATUS_WORDS = {
  "job.starting": "active",
  "job.completed": "completed",
  "job.failed": "failed",
  "job.aborted": "canceled",
} as const satisfies Record<JobStatus, string>;

/** What is in the address. Days are `YYYY-MM-DD` in the time zone of the browser, both included. */
export type View = {
  readonly q: string;
  /** None: any. */
  readonly statuses: readonly JobStatus[];
  /** A day, or how many of the last days, today included, such as `7d`. */
  readonly from: string;
  readonly to: string;
  /** Where the page starts; "": with the newest job. */
  readonly cursor: string;
};

/** The longest text that the API searches for. */
export const MAX_TEXT = 200;
const DAY = /^\d{4}-\d\d-\d\d$/;
const LAST_DAYS = /^([1-9]\d{0,2})d$/;
const wordOf = (status: JobStatus): string => status.replace("job.", "");

/** The view of an address; what is not valid in it is left out. */
export function viewOf(query: URLSearchParams): View {
  const words = (query.get("status") ?? "").split(",");
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
    cursor: query.get("cursor") ?? "",
  };
}

/** The parameters of the address for a view; "" for those that it does not need. */
export const paramsOf = ({ statuses, ...rest }: View): Record<string, string> => ({
  ...rest,
  status: statuses.map(wordOf).join(","),
});

/** The address of the page for a view. */
export function addressOf(view: View): string {
  const text = new URLSearchParams(Object.entries(paramsOf(view)).filter(([, value]) => value !== "")).toString();
  return text === "" ? "/" : `/?${text}`;
}

/** The times that are chosen by a name: the `from` of their views, without a `to`. */
export const TIMES = { "": "Any time", "1d": "Today", "7d": "Last 7 days", "30d": "Last 30 days" } as const;
export type TimeName = keyof typeof TIMES;

/** The name of the time of a view; null for days that have none. */
export const timeOf = ({ from, to }: Pick<View, "from" | "to">): TimeName | null =>
  to === "" && Object.hasOwn(TIMES, from) ? (from as TimeName) : null;

/** The start of a day in ms, in the time zone of the browser; `later`: of one so many days later. */
function startOf(day: string, later = 0): number {
  const [, days] = LAST_DAYS.exec(day) ?? [];
  if (days !== undefined) {
    const today = new Date();
    return new Date(today.getFullYear(), today.getMonth(), today.getDate() + 1 - Number(days)).getTime();
  }
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + later).getTime();
}

/** What the API is asked for, without the place in the list. */
export function filterOf({ q, statuses, from, to }: View): JobFilter {
  const text = q.trim();
  return {
    ...(text === "" ? {} : { q: text }),
    ...(statuses.length === 0 ? {} : { status: statuses }),
    ...(from === "" ? {} : { created_after: new Date(startOf(from)).toISOString() }),
    ...(to === "" ? {} : { created_before: new Date(startOf(to, 1)).toISOString() }),
  };
}

/** True if the view leaves jobs out. */
export const isFiltered = ({ q, statuses, from, to }: View): boolean =>
  q.trim() !== "" || statuses.length > 0 || from !== "" || to !== "";

/** Adds a status to those that are shown, or removes it; all of them are the same as none. */
export function toggled(statuses: readonly JobStatus[], status: JobStatus): readonly JobStatus[] {
  const next = STATUSES.filter((one) => statuses.includes(one) !== (one === status));
  return next.length === STATUSES.length ? [] : next;
}
