// Prints the demo's results and their URLs, or the reason why the job failed.
import type { JobView, MediaFile, OutputMedia } from "./api-client.ts";

type Output = JobView["outputs"][number];

/** Prints each output with its URLs. `sizes`: bytes of each object by its URL. */
export function reportResults(
  job: JobView,
  media: Readonly<Record<string, OutputMedia>>,
  sizes: ReadonlyMap<string, number>,
): void {
  for (const output of job.outputs) {
    console.log(`\n${output.key}${describeMedia(mediaFileOf(media[output.key]))}`);
    for (const url of urlsOf(output)) console.log(`  ${url}   ${megabytes(sizes.get(url) ?? 0)}`);
  }
}

/** A stream has metadata for each of its packages; both describe the same video. */
const mediaFileOf = (media: OutputMedia | undefined): MediaFile | undefined =>
  media && ("streams" in media ? media : (media.hls ?? media.dash));

/** Prints a line for the input or each output that failed. */
export function reportFailure(job: JobView): void {
  console.error(`The job ended as ${job.status}.`);
  if (job.input.error) console.error(`  input: ${job.input.error}`);
  for (const { key, status, error } of job.outputs) if (error) console.error(`  ${key} (${status}): ${error}`);
}

const urlsOf = ({ url, urls }: Output): string[] =>
  url ? [url] : (urls ?? []).map((entry) => (typeof entry === "string" ? entry : entry.url));

function describeMedia(file: MediaFile | undefined): string {
  const video = file?.streams.find(({ codec_type }) => codec_type === "video");
  const facts = [
    video?.width && video.height ? `${video.width}x${video.height}` : "",
    file?.format.duration ? `${Number(file.format.duration).toFixed(2)} s` : "",
  ].filter((fact) => fact !== "");
  return facts.length > 0 ? `: ${facts.join(", ")}` : "";
}

const megabytes = (bytes: number): string =>
  bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(2)} MB`;
