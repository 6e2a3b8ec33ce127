// copra jobs ls and copra jobs count.
import type { Job, JobFilter, JobListOptions, JobStatus } from "../../client/index.ts";
import { clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import type { Options } from "../context.ts";
import { numberOption, pairsOption, textOption } from "../context.ts";
import { usageError } from "../exit.ts";
import { statusColor } from "../terminal/colors.ts";
import { printable } from "../terminal/printable.ts";
import { shortened, table } from "../terminal/table.ts";
import { agoText, apiTime, durationText, parseTime } from "../terminal/values.ts";

const DEFAULT_LIMIT = 20;
/** Maximum number of jobs that the service returns in a response. */
const PAGE = 100;
const STATUSES = ["job.starting", "job.completed", "job.failed", "job.aborted"] as const satisfies readonly JobStatus[];

/** Returns the filter from the options. Throws a usage error that names the option. */
export function filterOf(options: Options, nowMs: number): JobFilter {
  const status = textOption(options, "status")?.split(",").map(statusOf);
  const [after, before] = (["since", "until"] as const).map((name) => {
    const text = textOption(options, name);
    if (text === undefined) return undefined;
    const at = parseTime(text, nowMs);
    if (at === null) throw usageError(`--${name} must be a time such as 2h (ago), 2026-11-22 or 2026-11-22T10:00:00Z`);
    return new Date(at).toISOString();
  });
  const q = textOption(options, "query");
  const tags = pairsOption(options, "tag");
  return {
    ...(status ? { status } : {}),
    ...(q === undefined ? {} : { q }),
    ...(after === undefined ? {} : { created_after: after }),
    ...(before === undefined ? {} : { created_before: before }),
    ...(tags === undefined ? {} : { tags }),
  };
}

function statusOf(text: string): JobStatus {
  const chosen = STATUSES.find((status) => status === text.trim() || status === `job.${text.trim()}`);
  if (!chosen) {
    const allowed = STATUSES.map((status) => status.slice(4)).join(", ");
    throw usageError(`--status must be one or more of ${allowed}, not "${text}"`);
  }
  return chosen;
}

const SORTS = ["created", "ended", "took"] as const satisfies readonly JobListOptions["sort"][];
type Sort = (typeof SORTS)[number];

function sortOf(options: Options): Sort {
  const text = textOption(options, "sort") ?? "created";
  const sort = SORTS.find((known) => known === text);
  if (!sort) throw usageError(`--sort must be one of ${SORTS.join(", ")}, not "${text}"`);
  return sort;
}

export const listJobs: Run = async (context, _args, options) => {
  const { output, now, signal } = context;
  const limit =
    options.all === true ? Number.POSITIVE_INFINITY : (numberOption(options, "limit", "--limit") ?? DEFAULT_LIMIT);
  const filter = filterOf(options, now());
  const sort = sortOf(options);
  const { copra } = await clientOf(context);
  const jobs: Job[] = [];
  let hasMore = false;
  for await (const job of copra.jobs.list(
    { ...filter, ...(sort === "created" ? {} : { sort }), limit: Math.min(PAGE, limit + 1) },
    { signal },
  )) {
    if (jobs.length === limit) {
      hasMore = true;
      break;
    }
    jobs.push(job);
  }
  output.data({ jobs, has_more: hasMore }, () => listText(jobs, sort, now(), output));
  if (hasMore) output.words(`There are more: --limit ${limit * 5}, or --all`);
};

function listText(
  jobs: readonly Job[],
  sort: Sort,
  nowMs: number,
  { colors }: { colors: Parameters<typeof statusColor>[1] },
): string {
  const hasTags = jobs.some(({ tags }) => tags);
  const rows = jobs.map((job) => [
    job.id,
    statusColor(job.state ?? job.status, colors),
    // Lists contain the progress at the last change of status, which is out of date in running jobs.
    job.state === "running" ? "" : job.progress,
    sort === "took" ? tookText(job) : agoText((sort === "ended" && job.completed_at) || job.created_at, nowMs),
    shortened(printable(fileName(job)), 40),
    shortened(printable(job.outputs.map(({ key }) => key).join(" ")), 60),
    ...(hasTags ? [shortened(printable(tagsText(job.tags)), 60)] : []),
  ]);
  const names = ["JOB", "STATUS", "", sort.toUpperCase(), "SOURCE", "OUTPUTS", ...(hasTags ? ["TAGS"] : [])];
  return table([names.map(colors.bold), ...rows]);
}

const tookText = ({ started_at, completed_at }: Job): string =>
  started_at && completed_at ? durationText((apiTime(completed_at) - apiTime(started_at)) / 1000) : "";

/** Returns tags such as `order=7 tenant=a`. */
export const tagsText = (tags: Job["tags"]): string =>
  Object.entries(tags ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");

/** Returns the source's file name, or the raw name if it cannot be decoded. */
function fileName({ input: { source = "" } }: Job): string {
  const name =
    source
      .replace(/(?<!\/)\/+$/, "")
      .split("/")
      .at(-1) ?? "";
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

export const countJobs: Run = async (context, _args, options) => {
  const { output, now, signal } = context;
  const { status: _, ...filter } = filterOf(options, now());
  const { copra } = await clientOf(context);
  const response = await copra.jobs.counts(filter, { signal });
  output.data(response, () =>
    table(Object.entries(response.counts).map(([status, count]) => [statusColor(status, output.colors), `${count}`])),
  );
  if (response.capped) output.words("There are more than are counted: a count of 10000 means that many or more");
};
