// What the demo says at its end: the results and where they lie, or why there are none.
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { JobView, MediaFile } from "./api-client.ts";

type Output = JobView["outputs"][number];

/** Lists each output with its addresses, and saves the files to `folder`, which outlives the S3 server. */
export async function reportResults(job: JobView, media: Record<string, MediaFile>, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const output of job.outputs) {
    console.log(`\n${output.key}${describeMedia(media[output.key])}`);
    for (const url of addresses(output)) console.log(`  ${url}   ${megabytes(await save(url, folder))}`);
  }
  console.log(`\nSaved to ${folder}`);
}

/** One line for each part of the job that failed. */
export function reportFailure(job: JobView): void {
  console.error(`The job ended as ${job.status}.`);
  if (job.input.error) console.error(`  input: ${job.input.error}`);
  for (const { key, status, error } of job.outputs) if (error) console.error(`  ${key} (${status}): ${error}`);
}

const addresses = ({ url, urls }: Output): string[] =>
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

/** Saves what lies at the address; answers its size in bytes. */
async function save(url: string, folder: string): Promise<number> {
  const answer = await fetch(url);
  if (!answer.ok || !answer.body) throw new Error(`${url} cannot be read: HTTP ${answer.status}`);
  const file = createWriteStream(join(folder, basename(new URL(url).pathname)));
  await pipeline(Readable.fromWeb(answer.body), file);
  return file.bytesWritten;
}
