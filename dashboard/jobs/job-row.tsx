// A job of the list.
import { memo } from "preact/compat";
import type { Job } from "../../client/index.ts";
import { Link } from "../parts/controls/link.tsx";
import { Progress } from "../parts/progress.tsx";
import { Status } from "../parts/status.tsx";
import { type ColumnName, column } from "./columns.tsx";
import { errorOf, fractionOf, isEnded, nameOf, reasonOf, shownStatus } from "./rows.ts";
import { Thumbnail } from "./thumbnail.tsx";

type RowProps = {
  readonly job: Job;
  readonly isSelected: boolean;
  /** True if the list shows above the rows why the job waits. */
  readonly sharesReason: boolean;
  readonly columns: readonly ColumnName[];
  readonly select: (id: string, isSelected: boolean) => void;
};

/** Rendered again only when its job, its selection or the columns have changed. */
export const JobRow = memo(({ job, isSelected, sharesReason, select, columns }: RowProps) => {
  const { name, place } = nameOf(job);
  return (
    <tr data-id={job.id} class={isSelected ? "selected" : undefined}>
      <td class="check">
        <label>
          <input
            type="checkbox"
            aria-label={`Select ${name}`}
            checked={isSelected}
            onChange={(event) => select(job.id, event.currentTarget.checked)}
          />
        </label>
      </td>
      <td class="image">
        <Thumbnail job={job} />
      </td>
      <td class="job">
        <div class="line">
          <Link to={`/jobs/${job.id}`} class="open name">
            {name}
          </Link>
          <span class="place">
            {name !== job.id && <span class="mono">{job.id}</span>}
            {place !== "" && !columns.includes("source") && <span class="ellipsis">{place}</span>}
          </span>
          <Remark job={job} sharesReason={sharesReason} />
        </div>
      </td>
      <td class="state">
        {isEnded(job) || job.state === "queued" || job.progress === "0%" ? (
          <Status status={shownStatus(job)} />
        ) : (
          <Progress value={fractionOf(job)} label={`Progress of ${name}`} />
        )}
      </td>
      {columns.map((name) => {
        const { cell: Cell } = column(name);
        return (
          <td key={name} class={classOf(name)}>
            <Cell job={job} />
          </td>
        );
      })}
    </tr>
  );
});

/** The class of the cells of a column. */
export const classOf = (name: ColumnName): string => (column(name).isText ? name : `number ${name}`);

/** The reason why a job failed, or why it waits. */
function Remark({ job, sharesReason }: Pick<RowProps, "job" | "sharesReason">) {
  const error = errorOf(job);
  if (error !== undefined)
    return (
      <span class="remark bad ellipsis" title={error}>
        ✕ {error}
      </span>
    );
  if (job.waiting_for === undefined || sharesReason) return null;
  return <span class="remark warn ellipsis">waits for {reasonOf(job.waiting_for)}</span>;
}
