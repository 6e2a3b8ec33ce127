// Saves the results of a job in a folder.
import { relative } from "node:path";
import * as z from "zod";
import { isFolderUrl } from "#shared/job/folder-url.ts";
import { USER_AGENT } from "#shared/version.ts";
import type { Copra, Job } from "../../client/index.ts";
import { namedFetch } from "../connection/named-fetch.ts";
import type { LocalStack, Target } from "../connection/target.ts";
import type { Context } from "../context.ts";
import { CommandError, EXIT } from "../exit.ts";
import { outputUrls, reportFailures } from "../follow/report.ts";
import { bytesText } from "../terminal/values.ts";
import { downloadAll, type Fetcher, type SavedFile } from "./download.ts";
import { commonFolder, type StoredOutput, storageBase } from "./result-paths.ts";

export type Results = {
  readonly job: Job;
  readonly target: Target;
  readonly folder: string;
  /** Prefix of object names that local files drop. */
  readonly prefix: string;
  readonly signal: AbortSignal;
  /** The job's request. If absent, it is read from the service. */
  readonly request?: { readonly outputs: object; readonly storage: object };
};

/** Downloads and reports the outputs of an ended job. Returns the exit code. */
export async function saveResults(context: Context, copra: Copra, results: Results): Promise<number> {
  const { output } = context;
  const { job, folder, prefix, signal } = results;
  const request = results.request ?? (await readRequest(copra, job.id, signal));
  const stored = storedOutputs(job, request?.outputs ?? {});
  const urls = stored.flatMap((output) => output.urls);
  const elsewhere = urls.find(isFolderUrl);
  if (elsewhere !== undefined)
    throw new CommandError(EXIT.service, `The outputs are in a folder of the nodes: ${elsewhere}`);
  let last = 0;
  const files = await downloadAll({
    urls,
    optional: thumbnailFiles(job, request?.outputs ?? {}),
    base: storageBase(stored) ?? commonFolder(urls),
    folder,
    prefix,
    signal,
    fetcher: await signingFetcher(request?.storage ?? {}, results.target),
    onFile: (_file, count) => {
      if (count < last + 50) return;
      last = count;
      output.words(`${count} files are downloaded`);
    },
  });
  reportFiles(context, job, files);
  return job.status === "job.completed" ? EXIT.done : reportFailures(context, job);
}

/** Reads the request from the service. Old services and old jobs have none: paths then come from the URLs alone. */
async function readRequest(copra: Copra, id: string, signal: AbortSignal): Promise<Results["request"] | null> {
  try {
    const { request } = await copra.jobs.request(id, { signal });
    return { outputs: request.outputs ?? {}, storage: request.storage ?? {} };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Error && "status" in error && (error.status === 404 || error.status === 409)) return null;
    throw error;
  }
}

function reportFiles({ output }: Context, job: Job, files: readonly SavedFile[]): void {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const sorted = files.toSorted((a, b) => a.path.localeCompare(b.path));
  // Print only playlists of a stream, because people open these, not thousands of segments.
  const named = new Set(job.outputs.flatMap(outputUrls));
  const printed = sorted.filter(({ url }) => named.has(url));
  output.line({ ...job, files: sorted }, () => printed.map(({ path }) => relative(".", path) || path).join("\n"));
  output.words(`${files.length} ${files.length === 1 ? "file" : "files"}, ${bytesText(total)}`);
}

type Params = Readonly<Record<string, unknown>>;

/** Returns the requested outputs, in the order of the job's outputs. */
function requestedOutputs(outputs: object): { readonly format: string; readonly params: Params }[] {
  return Object.entries(outputs).flatMap(([format, value]) =>
    [value].flat().map((params) => ({ format, params: isParams(params) ? params : {} })),
  );
}

const isParams = (value: unknown): value is Params => typeof value === "object" && value !== null;

function storedOutputs(job: Job, outputs: object): StoredOutput[] {
  const requested = requestedOutputs(outputs);
  return job.outputs.map((output, at) => {
    const { params = {} } = requested[at] ?? {};
    return { urls: outputUrls(output), paths: pathsOf(params) };
  });
}

function pathsOf({ path, hls, dash }: Params): string[] {
  const folder = typeof path === "string" ? path.replace(/(?<!\/)\/+$/, "") : "";
  const streams = [hls, dash].flatMap((part) =>
    isParams(part) && typeof part.path === "string" ? [`${folder}/${part.path}/`.replaceAll(/\/{2,}/g, "/")] : [],
  );
  return streams.length > 0 ? streams : typeof path === "string" ? [path] : [];
}

/** Returns the URLs of thumbnail WebVTT files. They lie beside a stream's playlists, which do not mention them. */
function thumbnailFiles(job: Job, outputs: object): string[] {
  const requested = requestedOutputs(outputs);
  return job.outputs.flatMap((output, at) =>
    requested[at]?.params.thumbnails === true
      ? outputUrls(output).map((url) => url.replace(/\.(m3u8|mpd)(?=$|\?)/, ".vtt"))
      : [],
  );
}

// Reads stored objects, without a signature or with the client's own keys.

/** Fields of an S3-compatible storage that a signature needs. */
const Signable = z.object({
  region: z.string().default("us-east-1"),
  credentials: z.object({ access_key_id: z.string(), secret_access_key: z.string() }),
});

/**
 * Returns a fetcher that sends a request without a signature first. If the storage rejects it, the fetcher signs the
 * request with the keys of the request or of the local system, if known.
 */
async function signingFetcher(storage: object, { local }: Target): Promise<Fetcher> {
  const signable = Signable.safeParse(storage);
  const keys = signable.success ? signable.data : local ? localKeys(local) : null;
  if (!keys) return (url, signal) => namedFetch(url, { signal });
  const { AwsClient } = await import("aws4fetch");
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = keys.credentials;
  const client = new AwsClient({ accessKeyId, secretAccessKey, region: keys.region, service: "s3", retries: 0 });
  return async (url, signal) => {
    const response = await namedFetch(url, { signal });
    if (response.status !== 401 && response.status !== 403) return response;
    await response.body?.cancel();
    const headers = { "user-agent": USER_AGENT };
    return fetch(await client.sign(url, { headers }), { signal });
  };
}

const localKeys = ({ s3 }: LocalStack): z.infer<typeof Signable> => ({
  region: s3.region,
  credentials: { access_key_id: s3.accessKeyId, secret_access_key: s3.secretAccessKey },
});
