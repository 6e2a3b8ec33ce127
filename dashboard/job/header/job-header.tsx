// The name, progress and actions of a job.
import type { Job, RequestView } from "../../../client/index.ts";
import { paused } from "../../core/account-events.ts";
import { useKeys } from "../../core/keyboard.ts";
import { lastShown, navigate } from "../../core/location.ts";
import { copra } from "../../core/service.ts";
import { JobTags } from "../../jobs/job-tags.tsx";
import { fractionOf, isTime, nameOf, reasonOf, shownStatus } from "../../jobs/rows.ts";
import { hashOfRequest } from "../../new-job/state.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Link } from "../../parts/controls/link.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { confirm } from "../../parts/overlays/dialog.tsx";
import { report, toastError } from "../../parts/overlays/toasts.tsx";
import { Progress } from "../../parts/progress.tsx";
import { Status } from "../../parts/status.tsx";
import { adviceFor } from "../failures/advice.ts";
import type { FollowState, LiveJob } from "../live/live-job.ts";

type Props = { readonly live: LiveJob; readonly job: Job };

export function JobHeader({ live, job }: Props) {
  const { name, place } = nameOf(job);
  return (
    <header class="stack tight job-head">
      <nav class="crumbs" aria-label="Breadcrumb">
        <Link to={lastShown("/")}>Jobs</Link>
      </nav>
      <div class="page-head">
        <h1>{name}</h1>
        <FollowChip state={live.state.value} />
        <Actions live={live} job={job} />
      </div>
      <div class="row job-id">
        <Status status={shownStatus(job)} />
        <span class="mono">{job.id}</span>
        <CopyButton text={job.id} label="Copy the id" />
        {place !== "" && <span class="muted ellipsis">{place}</span>}
        {job.template !== undefined && (
          <Link to={`/templates?name=${encodeURIComponent(job.template.split("@")[0] ?? "")}`}>{job.template}</Link>
        )}
        <JobTags tags={job.tags} />
      </div>
      {job.completed_at === null && (
        <div class="job-progress">
          <Progress value={fractionOf(job)} label="Progress of the job" />
        </div>
      )}
      {job.waiting_for !== undefined && (
        <div class="notice warn">
          <Icon name="warning" />
          <div>
            The job waits for {reasonOf(job.waiting_for)}.
            {isTime(job.waiting_for)
              ? " Cancel works before this time, too."
              : " No node of the last ten minutes has it."}
          </div>
        </div>
      )}
    </header>
  );
}

/** True if a retry may end differently: after a cancellation, or a failure that may be transient. */
const mayHelp = ({ status, input, outputs }: Job): boolean =>
  status === "job.aborted" ||
  [input, ...outputs].every(({ error_code }) => error_code === undefined || adviceFor(error_code).mayRetry);

function Actions({ live, job }: Props) {
  const isRunning = job.completed_at === null;
  const mayRetry = job.status === "job.failed" || job.status === "job.aborted";
  const change = async (done: string, call: Promise<Job>): Promise<void> => {
    await report(call.then(live.changed), done);
  };
  const cancel = async (): Promise<void> => {
    const text = "Its nodes stop working on it. Outputs that are finished stay; the job can be started again.";
    if (!(await confirm({ title: "Cancel this job?", text, action: "Cancel the job", danger: true }))) return;
    await change("The job was canceled", copra.jobs.cancel(job.id));
  };
  const moveToFront = (): Promise<void> => change("Moved to the front", copra.jobs.setPriority(job.id));
  const retry = (): Promise<void> => change("The job starts again", copra.jobs.retry(job.id));
  const open = async (page: string, change: (request: RequestView["request"]) => object): Promise<void> => {
    try {
      const { request } = await copra.jobs.request(job.id);
      navigate(`${page}${hashOfRequest(change(request))}`);
    } catch (error) {
      toastError(error);
    }
  };
  const edit = (): Promise<void> => open("/new", (request) => request);
  const saveAsTemplate = (): Promise<void> => open("/templates", ({ input: _, ...sections }) => sections);
  useKeys(
    {
      e: { help: "Edit the request and send it again", run: edit },
      r: { help: "Start the job again", run: retry, when: () => mayRetry },
      f: { help: "Move the job to the front", run: moveToFront, when: () => job.state === "queued" },
      c: { help: "Cancel the job", run: cancel, when: () => isRunning },
    },
    "Job",
  );
  return (
    <div class="row">
      {job.state === "queued" && <Button text="Move to front" onClick={moveToFront} />}
      {isRunning && <Button text="Cancel" class="danger" onClick={cancel} />}
      {mayRetry && <Button icon="retry" text="Retry" class={mayHelp(job) ? "primary" : ""} onClick={retry} />}
      <Button text="Save as template" onClick={saveAsTemplate} />
      <Button
        icon="edit"
        text="Edit and send again"
        class={mayRetry && !mayHelp(job) ? "primary" : ""}
        onClick={edit}
      />
    </div>
  );
}

/** Texts for how current the page is. */
const WORDS: Readonly<Record<FollowState, string>> = {
  connecting: "Connecting …",
  live: "Live",
  polling: "Every 5 s",
  lost: "Connection lost, trying again …",
  off: "Paused",
  ended: "",
};

const TITLES: Partial<Record<FollowState, string>> = {
  polling: "Too many people follow this job for a stream. It is read every 5 s instead.",
};

function FollowChip({ state }: { readonly state: FollowState }) {
  const toggle = (): void => {
    paused.value = !paused.peek();
  };
  useKeys({ l: { help: "Pause or resume live updates", run: toggle, when: () => state !== "ended" } }, "Job");
  if (state === "ended") return null;
  return (
    <span class="row follow">
      <span class={`chip follow-${state}`} role="status" title={TITLES[state]}>
        <span aria-hidden="true">●</span> {WORDS[state]}
      </span>
      <Button
        icon={paused.value ? "play" : "pause"}
        text={paused.value ? "Resume" : "Pause"}
        class="quiet"
        aria-pressed={paused.value}
        onClick={toggle}
      />
    </span>
  );
}
