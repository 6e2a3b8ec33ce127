// The result of a change of many jobs, for each job.
import { plural } from "../core/format.ts";
import { Button } from "../parts/controls/button.tsx";
import { Link } from "../parts/controls/link.tsx";
import { Dialog } from "../parts/overlays/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { Status } from "../parts/status.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { bulk, type Changed, closeBulk, stopChange } from "./bulk.ts";

/** The highest number of rows, so that people can read the dialog. */
const SHOWN = 200;

export function BulkResult() {
  const change = bulk.value;
  if (change === null) return null;
  const { verb, jobs, isRunning, error } = change;
  const failed = jobs.filter((job) => job.error);
  // Failures come first.
  const rows = [...failed, ...jobs.filter((job) => !job.error)].slice(0, SHOWN);
  const done = jobs.length - failed.length;
  return (
    <Dialog title={verb === "retry" ? "Retry" : "Cancel"} close={closeBulk} wide>
      <div class="dialog-body">
        <p role="status">
          {isRunning ? "In progress … " : ""}
          {plural(done, "job")} {verb === "retry" ? "retried" : "canceled"}
          {failed.length > 0 && `, ${failed.length} not`}.
        </p>
        <Problem error={error} />
        {rows.length > 0 && <Table label="Results" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />}
        {jobs.length > SHOWN && <p class="detail">and {plural(jobs.length - SHOWN, "other")}</p>}
      </div>
      <footer>
        {isRunning && <Button text="Stop" onClick={stopChange} />}
        <Button text="Close" class="primary" onClick={closeBulk} />
      </footer>
    </Dialog>
  );
}

const COLUMNS: readonly Column<Changed>[] = [
  ["Job", ({ id }) => <Link to={`/jobs/${id}`}>{id}</Link>, "mono"],
  [
    "Result",
    ({ status, error }) => (
      <>
        {status && <Status status={status} />}
        {error && <span class="remark bad">✕ {error.message}</span>}
      </>
    ),
  ],
];
