// The result of a change of many jobs, for each job.
import { plural } from "../core/format.ts";
import { Link } from "../parts/link.tsx";
import { Dialog } from "../parts/overlays/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { Status } from "../parts/status.tsx";
import { bulk, closeBulk, stopChange } from "./bulk.ts";

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
        {error !== undefined && <Problem error={error} />}
        {rows.length > 0 && (
          <div class="table">
            <table>
              <thead>
                <tr>
                  <th>Job</th>
                  <th>Result</th>
                </tr>
              </thead>
              <tbody>
                {rows.map((job) => (
                  <tr key={job.id}>
                    <td class="mono">
                      <Link to={`/jobs/${job.id}`}>{job.id}</Link>
                    </td>
                    <td>
                      {job.status && <Status status={job.status} />}
                      {job.error && <span class="remark bad">✕ {job.error.message}</span>}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        {jobs.length > SHOWN && <p class="detail">and {plural(jobs.length - SHOWN, "other")}</p>}
      </div>
      <footer>
        {isRunning && (
          <button type="button" onClick={stopChange}>
            Stop
          </button>
        )}
        <button type="button" class="primary" onClick={closeBulk}>
          Close
        </button>
      </footer>
    </Dialog>
  );
}
