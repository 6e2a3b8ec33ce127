// Prints the progress of the demo's job, its results and their URLs, or the reason why the job failed.
import type { WriteStream } from "node:tty";
import { outputUrls } from "../../cli/follow/report.ts";
import { bytesText } from "../../cli/terminal/values.ts";
import type { Job, JobMetadata } from "../../client/index.ts";

type Media = JobMetadata["metadata"]["outputs"][number][string];

/** Prints each output with its URLs. `sizes`: bytes of each object by its URL. */
export function reportResults(job: Job, { metadata }: JobMetadata, sizes: ReadonlyMap<string, number>): void {
  const media: Readonly<Record<string, Media>> = Object.assign({}, ...metadata.outputs);
  for (const output of job.outputs) {
    console.log(`\n${output.key}${describeMedia(media[output.key])}`);
    for (const url of outputUrls(output)) console.log(`  ${url}   ${bytesText(sizes.get(url) ?? 0)}`);
  }
}

/** Prints a line for the input or each output that failed. */
export function reportFailure(job: Job): void {
  console.error(`The job ended as ${job.status}.`);
  if (job.input.error) console.error(`  input: ${job.input.error}`);
  for (const { key, status, error } of job.outputs) if (error) console.error(`  ${key} (${status}): ${error}`);
}

function describeMedia(media: Media | undefined): string {
  const video = media?.streams.find(({ codec_type }) => codec_type === "video");
  const facts = [
    video?.width && video.height ? `${video.width}x${video.height}` : "",
    media?.format.duration ? `${Number(media.format.duration).toFixed(2)} s` : "",
  ].filter((fact) => fact !== "");
  return facts.length > 0 ? `: ${facts.join(", ")}` : "";
}

/** A job's statuses and percentages in one line. */
function describeProgress({ progress, status, state, input, outputs }: Job): string {
  const stateOf = (text: string): string => text.slice(text.indexOf(".") + 1);
  const parts = outputs.map(({ key, status, progress: outputProgress }) => {
    const percent = outputProgress && outputProgress !== "0%" && outputProgress !== "100%" ? ` ${outputProgress}` : "";
    return `${key} ${stateOf(status)}${percent}`;
  });
  return [`${progress.padStart(4)} ${state ?? stateOf(status)}`, `input ${stateOf(input.status)}`, ...parts].join(
    " · ",
  );
}

const CLEAR_LINE = "\r\u001b[2K";

/** Shows a job's progress: on a terminal a line that is redrawn, elsewhere a line for each change. */
export function progressLine(out: WriteStream): { show(job: Job): void; end(): void } {
  let last = "";
  return {
    show(job) {
      const line = describeProgress(job);
      if (line === last) return;
      last = line;
      // A line that wraps could not be redrawn.
      out.write(out.isTTY ? CLEAR_LINE + line.slice(0, (out.columns || 80) - 1) : `${line}\n`);
    },
    end() {
      if (out.isTTY && last !== "") out.write("\n");
    },
  };
}
