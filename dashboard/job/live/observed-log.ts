// The changes of a job that this page observed. Pure.
import type { Job } from "../../../client/index.ts";

export type LogEntry = {
  /** ms since 1970, by the service's clock. */
  readonly atMs: number;
  readonly text: string;
  readonly kind: "info" | "good" | "bad";
};

/** Only the newest entries are kept, up to this number. */
const MAX_ENTRIES = 500;

/** The log after the job has changed from `before` to `after`. */
export function withChanges(
  log: readonly LogEntry[],
  before: Job | undefined,
  after: Job,
  atMs: number,
): readonly LogEntry[] {
  if (!before) return log;
  const added = changesOf(before, after).map((entry) => ({ atMs, ...entry }));
  return added.length === 0 ? log : [...log, ...added].slice(-MAX_ENTRIES);
}

type Change = Omit<LogEntry, "atMs">;

function changesOf(before: Job, after: Job): Change[] {
  const outputs = after.outputs.flatMap((output) => {
    const old = before.outputs.find(({ key }) => key === output.key);
    return changeOf(`Output ${output.key}`, old?.status, output.status, output.error);
  });
  return [
    ...changeOf("The input", before.input.status, after.input.status, after.input.error),
    ...outputs,
    ...(after.waiting_for !== undefined && after.waiting_for !== before.waiting_for
      ? [{ text: `The job waits for ${after.waiting_for}`, kind: "bad" as const }]
      : []),
    ...changeOf("The job", before.status, after.status, undefined),
  ];
}

/** An entry for the new status of `what`. */
function changeOf(what: string, before: string | undefined, after: string, error: string | undefined): Change[] {
  if (before === after) return [];
  const word = after.replace(/^[^.]*\./, "");
  const kind = /failed|aborted/.test(word) ? "bad" : /completed|encoded|created|packaged/.test(word) ? "good" : "info";
  return [{ text: `${what}: ${word}${error === undefined ? "" : `. ${error}`}`, kind }];
}
