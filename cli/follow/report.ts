// Words and data about the end of a job, or of the waiting for it.
import type { Job } from "../../client/index.ts";
import type { Context } from "../context.ts";
import { EXIT, Interrupted, TimedOut } from "../exit.ts";
import { printable } from "../terminal/printable.ts";

/** After Ctrl-C or a time limit: how to look at the job again. */
export function hintToFollow({ output }: Context, id: string, error: unknown): void {
  if (error instanceof Interrupted || error instanceof TimedOut) {
    output.warn(`The job goes on. To see it again: copra jobs follow ${id}`);
  }
}

/** Writes the URLs of a job's outputs, or why it failed; returns the exit code. */
export function reportEnd({ output }: Context, job: Job): number {
  if (!output.json) for (const url of urlsOf(job)) output.line(url, () => printable(url));
  return reportFailures({ output }, job);
}

/** Words about the end of a job; returns the exit code. */
export function reportFailures({ output }: Pick<Context, "output">, job: Job): number {
  const { red, green } = output.wordColors;
  const failures = [
    ...(job.input.error ? [`input: ${job.input.error}`] : []),
    // Outputs without input fail for the same reason.
    ...job.outputs.flatMap(({ key, error, error_code }) =>
      error && error_code !== job.input.error_code ? [`${key}: ${error}`] : [],
    ),
  ];
  for (const failure of failures) output.warn(red(printable(failure)));
  const completed = job.status === "job.completed";
  if (!completed && failures.length === 0) output.warn(red(`The job ${job.id} has the status ${job.status}`));
  if (completed) output.words(green(`Job ${job.id} is completed`));
  return completed ? EXIT.done : EXIT.failed;
}

/** All URLs of a job's outputs. */
export const urlsOf = (job: Job): string[] => job.outputs.flatMap(outputUrls);

export const outputUrls = ({ url, urls = [] }: Job["outputs"][number]): string[] => [
  ...(url === undefined ? [] : [url]),
  ...urls.map((entry) => (typeof entry === "string" ? entry : entry.url)),
];
