// Actions for the selected jobs, or for all jobs of the filter.
import type { JobCounts } from "../../client/index.ts";
import { plural } from "../core/format.ts";
import { useKeys } from "../core/keyboard.ts";
import { focusedRow } from "../core/row-focus.ts";
import { Button } from "../parts/controls/button.tsx";
import { confirm } from "../parts/overlays/dialog.tsx";
import { changeJobs, POSSIBLE, type Verb, wholeView } from "./bulk.ts";
import { isFiltered, STATUS_WORDS, type View } from "./filter.ts";

type BarProps = {
  readonly view: View;
  readonly selected: ReadonlySet<string>;
  readonly clear: () => void;
  readonly counts: JobCounts | undefined;
};

const WORDS = { retry: "Retry", cancel: "Cancel" } as const satisfies Record<Verb, string>;

export function BulkBar({ view, selected, clear, counts }: BarProps) {
  const onSelected = async (verb: Verb): Promise<void> => {
    const focused = focusedRow()?.dataset.id;
    const ids = selected.size > 0 ? [...selected] : focused === undefined ? [] : [focused];
    if (ids.length === 0) return;
    if (verb === "cancel" && !(await confirmCancel(plural(ids.length, "job")))) return;
    await changeJobs(verb, { ids });
  };
  const when = (): boolean => selected.size > 0 || focusedRow() !== null;
  useKeys(
    {
      r: { help: "Retry the selected jobs, or the job with the focus", run: () => void onSelected("retry"), when },
      c: { help: "Cancel the selected jobs, or the job with the focus", run: () => void onSelected("cancel"), when },
    },
    "List of jobs",
  );
  if (selected.size === 0) return null;
  return (
    <fieldset class="row bulk" aria-label="Selected jobs">
      <strong aria-live="polite">{plural(selected.size, "job")} selected</strong>
      <Button icon="retry" text="Retry" onClick={() => onSelected("retry")} />
      <Button icon="close" text="Cancel" class="danger" onClick={() => onSelected("cancel")} />
      <Button text="Select none" class="quiet" onClick={clear} />
      <span class="spring row">
        <AllButton verb="retry" view={view} counts={counts} />
        <AllButton verb="cancel" view={view} counts={counts} />
      </span>
    </fieldset>
  );
}

const confirmCancel = (jobs: string): Promise<boolean> =>
  confirm({
    title: `Cancel ${jobs}?`,
    text: <p>Nodes stop working on them. Outputs that are finished stay. A canceled job can be retried.</p>,
    action: `Cancel ${jobs}`,
    danger: true,
  });

/** Changes all jobs of the filter, also jobs on other pages. */
function AllButton({ verb, view, counts }: Pick<BarProps, "view" | "counts"> & { readonly verb: Verb }) {
  const jobs = wholeView(verb, view);
  if (jobs === null || !counts) return null;
  const statuses = POSSIBLE[verb].filter((status) => view.statuses.length === 0 || view.statuses.includes(status));
  const number = statuses.reduce((sum, status) => sum + (counts.counts[status] ?? 0), 0);
  if (number === 0) return null;
  const which = `${counts.capped ? "more than " : ""}${plural(number, "job")}`;
  const ask = async (): Promise<void> => {
    const question = {
      title: `${WORDS[verb]} all ${statuses.map((status) => STATUS_WORDS[status]).join(" and ")} jobs?`,
      text: <p>{`${isFiltered(view) ? "That match the filter" : "Of this account"}: ${which} now.`}</p>,
      action: `${WORDS[verb]} all`,
      danger: verb === "cancel",
    };
    if (await confirm(question)) await changeJobs(verb, jobs);
  };
  return <Button text={`${WORDS[verb]} all ${which} …`} class="quiet" onClick={ask} />;
}
