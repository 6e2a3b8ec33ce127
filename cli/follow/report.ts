// Reports the end of a job, or an interrupted wait for it.
import type { Job } from "../../client/index.ts";
import type { Context } from "../context.ts";
import { EXIT, Interrupted, TimedOut } from "../exit.ts";
import { printable } from "../terminal/printable.ts";

/** Prints the command to follow the job again, after Ctrl-C or a time limit. */
export function hintToFollow({ output }: Context, id: string, error: unknown): void {
  if (error instanceof Interrupted || error instanceof TimedOut) {
    output.warn(`The job goes on. To see it again: copra jobs follow ${id}`);
  }
}

/** Prints the URLs of a job's outputs, or the reason for its failure. Returns the exit code. */
export function reportEnd({ output }: Context, job: Job): number {
  if (!output.json) for (const url of urlsOf(job)) output.line(url, () => printable(url));
  return reportFailures({ output }, job);
}

/** Prints the end of a job and its failures. Returns the exit code. */
export function reportFailures({ output }: Pick<Context, "output">, job: Job): number {
  const { red, green } = output.wordColors;
  const failures = [
    ...(job.input.error ? [`input: ${job.input.error}`] : []),
    // Without an input, outputs fail for the same reason.
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

export const urlsOf = (job: Job): string[] => job.outputs.flatMap(outputUrls);

export const outputUrls = ({ url, urls = [] }: Job["outputs"][number]): string[] => [
  ...(url === undefined ? [] : [url]),
  ...urls.map((entry) => (typeof entry === "string" ? entry : entry.url)),
];
