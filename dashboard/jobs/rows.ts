// Jobs as rows of a list: their texts and their changes. Pure.
import type { Job, JobEvent, Output } from "../../client/index.ts";
import { dateTime, timeOf } from "../core/format.ts";

const DONE: readonly string[] = ["video.encoded", "image.created", "httpstream.packaged"] satisfies Output["status"][];

export const isEnded = ({ status }: Pick<Job, "status">): boolean => status !== "job.starting";

/** The progress of a job, 0 to 1. */
export const fractionOf = ({ progress }: Pick<Job, "progress">): number => Number.parseFloat(progress) / 100 || 0;

/** The status of an ended job; the state of a job that waits, runs or is being stored. */
export const shownStatus = ({ status, state }: Pick<Job, "status" | "state">): string => state ?? status;

/** True if a job waits for its time to start, not for a node. */
export const isTime = (waitingFor: string): boolean => /^\d{4}-\d\d-\d\d /.test(waitingFor);

/** A reason to wait, with its time in the form of other times. */
export const reasonOf = (waitingFor: string): string => (isTime(waitingFor) ? dateTime(waitingFor) : waitingFor);

/** The reasons for which several jobs wait, each with the number of jobs. */
export function sharedReasons(jobs: readonly Job[]): ReadonlyMap<string | undefined, number> {
  const numbers = new Map<string, number>();
  for (const { waiting_for: reason } of jobs) if (reason) numbers.set(reason, (numbers.get(reason) ?? 0) + 1);
  return new Map([...numbers].filter(([, number]) => number > 1));
}

/** The seconds since a node started to work on a job, until now or until its end; null before the first node. */
export function secondsOf({ started_at, completed_at }: Job, now: number): number | null {
  if (started_at === undefined) return null;
  return Math.max(0, (completed_at === null ? now : timeOf(completed_at)) - timeOf(started_at)) / 1000;
}

/** The name of the source's file, and the folder or host of the file. The job's id if the source is unknown. */
export function nameOf({ id, input }: Pick<Job, "id" | "input">): { readonly name: string; readonly place: string } {
  const source = input.source ?? "";
  const [, scheme = "", rest = ""] = /^(\w+):\/\/(.*)$/s.exec(source) ?? [];
  const path = rest.split("/");
  const last = decoded(path.pop() ?? "");
  if (scheme === "upload") return { name: last || id, place: "upload" };
  const place = decoded(path.join("/"));
  return last === "" ? { name: place || id, place: "" } : { name: last, place };
}

/** The last `parts` names of a URL's path: by default, the name of the file. */
export const endOf = (url: string, parts = 1): string =>
  decoded(
    url
      .replace(/[?#].*/s, "")
      .split("/")
      .slice(-parts)
      .join("/"),
  );

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Counts finished outputs, and all outputs without skipped outputs. */
export function outputsOf({ outputs }: Pick<Job, "outputs">): { readonly done: number; readonly total: number } {
  const wanted = outputs.filter(({ status }) => !status.endsWith(".skipped"));
  return { done: wanted.filter(({ status }) => DONE.includes(status)).length, total: wanted.length };
}

/** The error of the input, or the first error of an output. The status of a canceled job shows its reason. */
export function errorOf({ input, outputs }: Pick<Job, "input" | "outputs">): string | undefined {
  if (input.error !== undefined) return input.error;
  const failed = outputs.filter(({ error, error_code }) => error !== undefined && error_code !== "cancelled");
  const [first] = failed;
  if (first?.error === undefined) return undefined;
  const more = failed.length > 1 ? ` (and ${failed.length - 1} more)` : "";
  return `${first.key}: ${first.error}${more}`;
}

/** Images that browsers can show. */
const SHOWN = /\.(jpe?g|png|webp|avif|gif)$/i;

/** The URL of an image of the job: the middle of the smallest images, because the first frame is often black. */
export function thumbnailOf({ outputs }: Pick<Job, "outputs">): string | undefined {
  const images = outputs
    .filter(({ type, urls }) => type === "image" && urls !== undefined)
    .map(({ format, urls = [] }) => ({
      width: Number(/:(\d+)x/.exec(format)?.[1] ?? Number.POSITIVE_INFINITY),
      urls: urls.filter((url): url is string => typeof url === "string" && SHOWN.test(url.replace(/[?#].*/s, ""))),
    }))
    .filter(({ urls }) => urls.length > 0)
    .sort((a, b) => a.width - b.width);
  const urls = images[0]?.urls ?? [];
  return urls[Math.floor((urls.length - 1) / 2)];
}

/** The newer of two states of a job. Lists get the progress later than the job itself. */
export function newer(known: Job | undefined, read: Job): Job {
  if (known === undefined || known.status !== read.status || isEnded(read)) return read;
  return known.created_at === read.created_at && fractionOf(known) > fractionOf(read) ? known : read;
}

/** The rows of a page that was read again, with newer known states. */
export function mergedRows(known: readonly Job[], read: readonly Job[]): readonly Job[] {
  const byId = new Map(known.map((job) => [job.id, job]));
  return read.map((job) => newer(byId.get(job.id), job));
}

/** The rows, with the present state of a job. */
export const withJob = (rows: readonly Job[], job: Job): readonly Job[] =>
  rows.map((row) => (row.id === job.id ? newer(row, job) : row));

/** The rows after an event of a job; null if no row has the job. */
export function withEvent(rows: readonly Job[], event: JobEvent): readonly Job[] | null {
  const at = rows.findIndex(({ id }) => id === event.id);
  const row = rows[at];
  if (!row) return null;
  const { status, progress, completed_at } = event;
  const isOlder = row.status === status && fractionOf(row) > fractionOf(event);
  if (isOlder) return rows;
  const { state: _, ...ended } = row;
  return rows.with(at, { ...(completed_at === null ? row : ended), status, progress, completed_at });
}
