// Secrets of a job that leave its object: secrets that nodes need for their tasks, and keys that the service generated.
import type { JobSpec } from "../../rpc/job-spec.ts";
import type { Settings } from "../../settings.ts";
import { sourceUrl } from "../../storage/source-url.ts";
import { mayBeChunked } from "../chunks/chunk-plan.ts";
import type { ExtraUrls } from "./extra-urls.ts";
import { openJobSecrets } from "./job-secrets.ts";

/** Input of a task besides the job's state. */
export type TaskSecrets = {
  /** The URL of the source; it may contain a signature. */
  readonly sourceUrl: string;
  /** Headers of the requests for the source. */
  readonly sourceHeaders?: Readonly<Record<string, string>>;
  /** Keys of the streams that are to be encrypted, in hexadecimal, by the index of their output. */
  readonly streamKeys: ReadonlyMap<number, string>;
  /** Settings of the search for split points during the inspection; null: no search. */
  readonly chunking: { readonly readOrigin: boolean } | null;
};

/** Unseals the secrets that a node needs for its task. */
export async function openForTask(spec: JobSpec, settings: Settings): Promise<TaskSecrets & { urls: ExtraUrls }> {
  const { extraUrls: urls, input, streamKeys: keys } = await openJobSecrets(spec, settings.sealingKeys);
  const streamKeys = new Map(keys.map(({ output, key }) => [output, key]));
  const chunking = mayBeChunked(spec) ? chunkingOf(spec, settings) : null;
  const headers = input && "url" in input && input.headers ? { sourceHeaders: input.headers } : {};
  return { sourceUrl: await sourceUrl(spec.input, input, settings), ...headers, streamKeys, chunking, urls };
}

/** All nodes with the folder read a source there, so it is not copied. */
const chunkingOf = ({ input }: JobSpec, { scratch }: Settings): TaskSecrets["chunking"] =>
  scratch && { readOrigin: scratch.readOrigin || input.kind === "folder" };

/** The keys that the service generated for the job's streams, by the index of their output. */
export async function generatedKeys(spec: JobSpec, { sealingKeys }: Settings): Promise<ReadonlyMap<number, string>> {
  const isEncrypted = spec.outputs.some((output) => output.type === "httpstream" && output.encryption);
  if (!isEncrypted) return new Map();
  const { streamKeys } = await openJobSecrets(spec, sealingKeys);
  return new Map(streamKeys.flatMap(({ output, key, isGenerated }) => (isGenerated ? [[output, key] as const] : [])));
}
