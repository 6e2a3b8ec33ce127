// The page of one job.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { CommandList, Job, JobMetadata, RequestView } from "../../client/index.ts";
import { timeOf } from "../core/format.ts";
import { useKeys } from "../core/keyboard.ts";
import { lastShown, navigate, query, setQuery } from "../core/location.ts";
import { copra } from "../core/service.ts";
import { Loading } from "../parts/loading.tsx";
import { Problem } from "../parts/problem.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { type Resource, useResource } from "../parts/use-resource.ts";
import { Commands } from "./commands/commands.tsx";
import { historyOf } from "./facts/history.ts";
import { HistoryList } from "./facts/history-list.tsx";
import { Metadata } from "./facts/metadata.tsx";
import { Notifications } from "./facts/notifications.tsx";
import { Request } from "./facts/request.tsx";
import { Failures } from "./failures/failures.tsx";
import { Figures } from "./header/figures.tsx";
import { JobHeader } from "./header/job-header.tsx";
import { type LiveJob, useLiveJob } from "./live/live-job.ts";
import { Outputs } from "./outputs/outputs.tsx";
import { type Bar, barsOf, runsOf } from "./timeline/bars.ts";
import { Timeline } from "./timeline/timeline.tsx";
import "./job.css";

const TABS = [
  { name: "commands", label: "Commands" },
  { name: "request", label: "Request" },
  { name: "notifications", label: "Notifications" },
  { name: "history", label: "History" },
  { name: "metadata", label: "Metadata" },
] as const;
type TabName = (typeof TABS)[number]["name"];

export default function JobPage({ id }: { readonly id: string }) {
  const live = useLiveJob(id);
  const job = live.job.value;
  useKeys({ Escape: { help: "Back to the jobs", run: () => navigate(lastShown("/")) } }, "Job");
  useEffect(() => {
    document.title = `${job ? `${job.progress} · ` : ""}Job ${id} · Copra`;
  }, [id, job?.progress]);
  if (!job) {
    return live.error.value === undefined ? (
      <Loading what="the job" />
    ) : (
      <div class="stack">
        <h1>Job {id}</h1>
        <Problem error={live.error.value} retry={live.restart} />
      </div>
    );
  }
  return <Shown live={live} job={job} />;
}

function Shown({ live, job }: { readonly live: LiveJob; readonly job: Job }) {
  const { id } = job;
  const tasks = live.tasks.value;
  const book = tasks === "gone" || tasks === undefined ? null : tasks;
  const changes = `${job.status} ${job.input.status} ${job.outputs.map(({ status }) => status).join(" ")}`;
  const commands = useResource((signal) => copra.jobs.commands(id, { signal }), [id, changes]);
  const request = useResource((signal) => copra.jobs.request(id, { signal }), [id]);
  const metadata = useResource((signal) => copra.jobs.metadata(id, undefined, { signal }), [id, changes]);
  const bars = useMemo(() => (book ? barsOf(book, runsOf([])) : []), [book]);
  // The order stays when the job ends: a player whose frame moves would start again.
  const [hadEnded] = useState(job.completed_at !== null);
  const endsMs = job.ends_at ? timeOf(job.ends_at) : null;
  const course = (
    <>
      <Figures job={job} book={book} endsMs={endsMs} />
      {tasks === "gone" && (
        <p class="notice">The tasks, commands and request of this job are no longer kept. Its outputs are.</p>
      )}
      {book && bars.length > 0 && (
        <Timeline
          job={job}
          book={book}
          commands={commands.value?.commands ?? []}
          endsMs={endsMs}
          playableSeconds={playableSeconds(job)}
        />
      )}
    </>
  );
  return (
    <div class="job-page stack">
      <JobHeader live={live} job={job} />
      <Problem error={live.error.value} retry={live.restart} />
      <Failures job={job} />
      {!hadEnded && course}
      <Outputs job={job} request={request.value?.request} metadata={metadata.value?.metadata} />
      {hadEnded && course}
      <Facts
        live={live}
        job={job}
        bars={bars}
        commands={commands}
        request={request}
        metadata={metadata}
        changes={changes}
      />
    </div>
  );
}

/** Seconds of a stream that players can play while it is encoded; null: no such stream. */
function playableSeconds({ outputs }: Job): number | null {
  const seconds = outputs.flatMap(({ live }) => (live ? [live.seconds] : []));
  return seconds.length > 0 ? Math.max(...seconds) : null;
}

type FactsProps = {
  readonly live: LiveJob;
  readonly job: Job;
  readonly bars: readonly Bar[];
  readonly commands: Resource<CommandList>;
  readonly request: Resource<RequestView>;
  readonly metadata: Resource<JobMetadata>;
  readonly changes: string;
};

function Facts({ live, job, bars, commands, request, metadata, changes }: FactsProps) {
  const { id } = job;
  const tab = query.value.get("tab");
  const isOver = job.completed_at !== null;
  // A job that failed before ffmpeg ran has no commands.
  const tabs = isOver && commands.value?.commands.length === 0 ? TABS.slice(1) : TABS;
  const chosen = tabs.find(({ name }) => name === tab)?.name ?? tabs[0]?.name ?? "request";
  const choose = (name: TabName): void => setQuery({ tab: name });
  useKeys(
    Object.fromEntries(
      tabs.map(({ name, label }, at) => [String(at + 1), { help: label, run: () => choose(name) }] as const),
    ),
    "Job",
  );
  return (
    <Tabs tabs={tabs} chosen={chosen} choose={choose} label="About the job">
      {chosen === "commands" && <Commands id={id} list={commands} isOver={isOver} />}
      {chosen === "request" && <Request view={request} />}
      {chosen === "notifications" && <Notifications id={id} changes={changes} />}
      {chosen === "history" && <HistoryList entries={historyOf(job, bars, live.log.value)} />}
      {chosen === "metadata" && <Metadata of={metadata} />}
    </Tabs>
  );
}
